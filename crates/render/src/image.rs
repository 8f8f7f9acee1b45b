//! A picture in memory.

/// Red, green and blue of each pixel, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes for each pixel, sRGB.
    pub pixels: Vec<u8>,
}

impl Image {
    /// A picture of one colour.
    pub fn new(width: usize, height: usize, colour: [u8; 3]) -> Self {
        Self { width, height, pixels: colour.repeat(width * height) }
    }

    /// The colour of a pixel.
    pub fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let first = 3 * (y * self.width + x);
        [self.pixels[first], self.pixels[first + 1], self.pixels[first + 2]]
    }

    /// Mixes a colour into a pixel; nothing outside of the picture.
    pub(crate) fn blend(&mut self, x: i64, y: i64, colour: [u8; 3], share: f32) {
        if x < 0 || y < 0 || x >= self.width as i64 || y >= self.height as i64 {
            return;
        }
        let first = 3 * (y as usize * self.width + x as usize);
        for (old, new) in self.pixels[first..first + 3].iter_mut().zip(colour) {
            let mixed = f32::from(*old) + share * (f32::from(new) - f32::from(*old));
            *old = mixed.round() as u8;
        }
    }
}
