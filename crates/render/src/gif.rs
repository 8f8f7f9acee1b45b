//! Animated GIF 89a, played again and again. All pictures share 256 colours, which a median cut of the colours of some
//! pictures gives \[heckbert1982\]; a fixed pattern of dots hides the steps between them and does not flicker. Pictures
//! after the first hold only the rectangle that has changed.

use crate::image::Image;
use std::io::{self, Write};

/// Bits of each component by which nearest colours are looked up.
const BITS: usize = 5;
/// Height of the pattern of dots, in units of 1/255.
const DOTS: f32 = 5.0;
/// Bayer's order of the dots of a square of four.
const BAYER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// A film that is written picture by picture.
pub struct GifWriter<W: Write> {
    out: W,
    palette: Palette,
    /// Hundredths of a second between pictures.
    delay: u16,
    /// Numbers of the colours of the last picture.
    last: Vec<u8>,
}

impl<W: Write> GifWriter<W> {
    /// For pictures of this size, with colours from `samples`, which are some of them.
    pub fn new(mut out: W, size: [usize; 2], samples: &[Image], delay: u16) -> io::Result<Self> {
        let palette = Palette::of(samples);
        let word = |n: usize| (n.min(65_535) as u16).to_le_bytes();
        out.write_all(b"GIF89a")?;
        out.write_all(&[word(size[0]), word(size[1])].concat())?;
        // A global table of 256 colours of eight bits.
        out.write_all(&[0xf7, 0, 0])?;
        out.write_all(palette.colours.as_flattened())?;
        out.write_all(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0")?;
        Ok(Self { out, palette, delay, last: Vec::new() })
    }

    /// Adds a picture.
    pub fn add(&mut self, image: &Image) -> io::Result<()> {
        let numbers = self.palette.numbers(image);
        let changed = |x: usize, y: usize| {
            let at = y * image.width + x;
            self.last.get(at) != Some(&numbers[at])
        };
        let (mut low, mut high) = ([image.width, image.height], [0, 0]);
        for y in 0..image.height {
            for x in (0..image.width).filter(|x| changed(*x, y)) {
                low = [low[0].min(x), low[1].min(y)];
                high = [high[0].max(x + 1), high[1].max(y + 1)];
            }
        }
        if low[0] >= high[0] {
            // Nothing has changed; a single pixel keeps the time.
            (low, high) = ([0, 0], [1, 1]);
        }
        self.out.write_all(&[0x21, 0xf9, 4, 0x04])?;
        self.out.write_all(&self.delay.to_le_bytes())?;
        self.out.write_all(&[0, 0, 0x2c])?;
        for n in [low[0], low[1], high[0] - low[0], high[1] - low[1]] {
            self.out.write_all(&(n as u16).to_le_bytes())?;
        }
        self.out.write_all(&[0])?;
        let part: Vec<u8> = (low[1]..high[1])
            .flat_map(|y| &numbers[y * image.width + low[0]..y * image.width + high[0]])
            .copied()
            .collect();
        self.out.write_all(&compressed(&part))?;
        self.last = numbers;
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&[0x3b])?;
        self.out.flush()
    }
}

struct Palette {
    colours: Vec<[u8; 3]>,
    /// The nearest colour to each colour of [`BITS`] bits.
    nearest: Vec<u8>,
}

impl Palette {
    fn of(samples: &[Image]) -> Self {
        let mut counts = vec![(0u64, [0u64; 3]); 1 << (3 * BITS)];
        for pixel in samples.iter().flat_map(|image| image.pixels.as_chunks::<3>().0) {
            let (count, sum) = &mut counts[cell(pixel.map(f32::from))];
            *count += 1;
            (0..3).for_each(|k| sum[k] += u64::from(pixel[k]));
        }
        let seen = counts.into_iter().filter(|(count, _)| *count > 0);
        let points = seen.map(|(count, sum)| (count, sum.map(|s| s as f32 / count as f32)));
        let mut boxes: Vec<Vec<(u64, [f32; 3])>> = vec![points.collect()];
        while boxes.len() < 256 {
            // The box whose colours differ most is cut at its median. Colours that many pixels have count more, but not in
            // proportion, or a small body would get no colours beside a large background.
            let spread = |points: &[(u64, [f32; 3])]| {
                let (axis, extent) = longest(points);
                let count: u64 = points.iter().map(|p| p.0).sum();
                (axis, if points.len() > 1 { extent * (count as f32).powf(0.3) } else { 0.0 })
            };
            let spreads = boxes.iter().map(|points| spread(points)).enumerate();
            let Some((worst, (axis, size))) = spreads.max_by(|a, b| a.1.1.total_cmp(&b.1.1)) else { break };
            if size <= 0.0 {
                break;
            }
            let mut points = boxes.swap_remove(worst);
            points.sort_by(|a, b| a.1[axis].total_cmp(&b.1[axis]));
            let upper = points.split_off(points.len() / 2);
            boxes.extend([points, upper]);
        }
        let mean = |points: &Vec<(u64, [f32; 3])>| {
            let count = points.iter().map(|p| p.0).sum::<u64>().max(1) as f32;
            [0, 1, 2].map(|k| (points.iter().map(|p| p.0 as f32 * p.1[k]).sum::<f32>() / count).round() as u8)
        };
        let mut colours: Vec<[u8; 3]> = boxes.iter().map(mean).collect();
        colours.resize(256, [0; 3]);
        let nearest = (0..1usize << (3 * BITS)).map(|cell| nearest(&colours, centre(cell))).collect();
        Self { colours, nearest }
    }

    fn numbers(&self, image: &Image) -> Vec<u8> {
        let pixels = image.pixels.as_chunks::<3>().0.iter().enumerate();
        let number = |(at, pixel): (usize, &[u8; 3])| {
            let (x, y) = (at % image.width, at / image.width);
            let dot = (BAYER[y % 4][x % 4] as f32 - 7.5) / 16.0 * DOTS;
            self.nearest[cell(pixel.map(|x| f32::from(x) + dot))]
        };
        pixels.map(number).collect()
    }
}

/// The axis along which colours differ most, and by how much.
fn longest(points: &[(u64, [f32; 3])]) -> (usize, f32) {
    let extent = |k: usize| {
        let all = points.iter().map(|p| p.1[k]);
        all.clone().fold(f32::NEG_INFINITY, f32::max) - all.fold(f32::INFINITY, f32::min)
    };
    let extents = [0, 1, 2].map(|k| (k, extent(k)));
    extents.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
}

/// The colour of few bits that a colour falls into.
fn cell(colour: [f32; 3]) -> usize {
    let few = |x: f32| (x.clamp(0.0, 255.0) as usize) >> (8 - BITS);
    few(colour[0]) << (2 * BITS) | few(colour[1]) << BITS | few(colour[2])
}

fn centre(cell: usize) -> [i32; 3] {
    let mask = (1 << BITS) - 1;
    [cell >> (2 * BITS), cell >> BITS & mask, cell & mask]
        .map(|x| ((x << (8 - BITS)) + (1 << (7 - BITS))) as i32)
}

fn nearest(colours: &[[u8; 3]], to: [i32; 3]) -> u8 {
    let apart = |c: &[u8; 3]| (0..3).map(|k| (i32::from(c[k]) - to[k]).pow(2)).sum::<i32>();
    let all = colours.iter().enumerate().min_by_key(|(_, c)| apart(c));
    all.map_or(0, |(k, _)| k as u8)
}

/// The LZW code of GIF with eight bits, in blocks of up to 255 bytes.
fn compressed(numbers: &[u8]) -> Vec<u8> {
    const CLEAR: u16 = 256;
    const END: u16 = 257;
    let mut bits = Bits::default();
    // Next code for a code and a number; 0 stands for none, since no sequence has a code below 258.
    let mut table = vec![0u16; 4096 * 256];
    let (mut next, mut width) = (258u16, 9);
    bits.push(CLEAR, width);
    let mut code: Option<u16> = None;
    for &number in numbers {
        let Some(before) = code else {
            code = Some(u16::from(number));
            continue;
        };
        let entry = &mut table[usize::from(before) * 256 + usize::from(number)];
        if *entry != 0 {
            code = Some(*entry);
            continue;
        }
        bits.push(before, width);
        *entry = next;
        if next == 1 << width {
            width += 1;
        }
        next += 1;
        if next == 4096 {
            bits.push(CLEAR, width);
            table.fill(0);
            (next, width) = (258, 9);
        }
        code = Some(u16::from(number));
    }
    if let Some(code) = code {
        bits.push(code, width);
    }
    bits.push(END, width);
    let bytes = bits.finish();
    let mut out = vec![8];
    for block in bytes.chunks(255) {
        out.push(block.len() as u8);
        out.extend(block);
    }
    out.push(0);
    out
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, code: u16, width: u32) {
        self.held |= u32::from(code) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.held as u8);
        }
        self.bytes
    }
}
