//! ZIP archives of files that are stored as they are (PKWARE's APPNOTE.TXT 6.3).

use flate2::Crc;
use std::io::{self, Write};

/// An archive that is written from front to end.
pub(super) struct Archive<'a> {
    out: &'a mut dyn Write,
    written: u64,
    members: Vec<Member>,
}

struct Member {
    name: String,
    crc: u32,
    size: u32,
    offset: u32,
}

/// The member that is being written.
struct Counted<'a> {
    out: &'a mut dyn Write,
    crc: Crc,
    size: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let n = self.out.write(data)?;
        self.crc.update(&data[..n]);
        self.size += n as u64;
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

const VERSION: u16 = 20;
/// Sizes and checksum follow the data; the name is UTF-8.
const FLAGS: u16 = 1 << 3 | 1 << 11;
/// 1 January 1980, the first day of MS-DOS: archives of the same data are the same.
const DATE: u16 = 1 << 5 | 1;

impl<'a> Archive<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self { out, written: 0, members: Vec::new() }
    }

    /// Adds a file, whose content `fill` writes.
    pub fn add(&mut self, name: &str, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let offset = narrow(self.written)?;
        let mut head = Vec::from(*b"PK\x03\x04");
        for x in [VERSION, FLAGS, 0, 0, DATE] {
            head.extend(x.to_le_bytes());
        }
        head.extend([0; 12]);
        head.extend((name.len() as u16).to_le_bytes());
        head.extend([0; 2]);
        head.extend(name.as_bytes());
        self.out.write_all(&head)?;
        let mut counted = Counted { out: self.out, crc: Crc::new(), size: 0 };
        fill(&mut counted)?;
        let (crc, size) = (counted.crc.sum(), narrow(counted.size)?);
        let mut tail = Vec::from(*b"PK\x07\x08");
        for x in [crc, size, size] {
            tail.extend(x.to_le_bytes());
        }
        self.out.write_all(&tail)?;
        self.written += head.len() as u64 + u64::from(size) + tail.len() as u64;
        self.members.push(Member { name: name.into(), crc, size, offset });
        Ok(())
    }

    /// Writes the list of files.
    pub fn finish(self) -> io::Result<()> {
        let mut list = Vec::new();
        for member in &self.members {
            list.extend(*b"PK\x01\x02");
            for x in [VERSION, VERSION, FLAGS, 0, 0, DATE] {
                list.extend(x.to_le_bytes());
            }
            for x in [member.crc, member.size, member.size] {
                list.extend(x.to_le_bytes());
            }
            list.extend((member.name.len() as u16).to_le_bytes());
            list.extend([0; 12]);
            list.extend(member.offset.to_le_bytes());
            list.extend(member.name.as_bytes());
        }
        let (start, size) = (narrow(self.written)?, narrow(list.len() as u64)?);
        let count = (self.members.len() as u16).to_le_bytes();
        self.out.write_all(&list)?;
        self.out.write_all(b"PK\x05\x06\0\0\0\0")?;
        self.out.write_all(&[count, count].concat())?;
        self.out.write_all(&size.to_le_bytes())?;
        self.out.write_all(&start.to_le_bytes())?;
        self.out.write_all(&[0; 2])
    }
}

fn narrow(size: u64) -> io::Result<u32> {
    u32::try_from(size).map_err(|_| {
        let what = "more than the 4 GB of an archive; take fewer frames with --every or --from and --to";
        io::Error::new(io::ErrorKind::InvalidData, what)
    })
}
