//! Arrays of numbers as bytes.

/// Single precision, little-endian.
pub(super) fn floats(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(|x| (x as f32).to_le_bytes()).collect()
}

/// Single precision, big-endian.
pub(super) fn floats_big_endian(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(|x| (x as f32).to_be_bytes()).collect()
}
