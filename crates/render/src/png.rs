//! PNG (ISO/IEC 15948): eight bits each of red, green and blue.

use crate::image::Image;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::{self, Write};

/// The file of a picture.
pub fn encode(image: &Image) -> Vec<u8> {
    let mut out = vec![0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
    let size = |n: usize| (n as u32).to_be_bytes();
    let header = [&size(image.width)[..], &size(image.height)[..], &[8, 2, 0, 0, 0]].concat();
    chunk(&mut out, b"IHDR", &header);
    // sRGB, perceptual.
    chunk(&mut out, b"sRGB", &[0]);
    chunk(&mut out, b"IDAT", &compressed(image).unwrap_or_default());
    chunk(&mut out, b"IEND", &[]);
    out
}

/// Differences to the row above, which are small in pictures of smooth surfaces, compressed. Memory takes all that is written.
fn compressed(image: &Image) -> io::Result<Vec<u8>> {
    const UP: u8 = 2;
    let row = 3 * image.width;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut above = vec![0; row];
    for pixels in image.pixels.chunks_exact(row) {
        let filtered: Vec<u8> = pixels.iter().zip(&above).map(|(x, up)| x.wrapping_sub(*up)).collect();
        encoder.write_all(&[UP])?;
        encoder.write_all(&filtered)?;
        above.copy_from_slice(pixels);
    }
    encoder.finish()
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    out.extend(kind);
    out.extend(data);
    out.extend(crc.sum().to_be_bytes());
}
