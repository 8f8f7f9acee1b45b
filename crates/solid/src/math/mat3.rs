use super::Scalar;
use std::ops::{Add, Index, IndexMut, Mul, Neg, Sub};

/// Three numbers.
pub type Vec3<T = f64> = [T; 3];

/// 3×3 matrix, `m[(i, j)]` = row i, column j; stored by rows, which fixes the order of the nine
/// entries in a 9-vector (and of the 9×9 ∂P/∂F): entry (i, j) is number 3i + j.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3<T = f64>(pub [[T; 3]; 3]);

impl<T> Index<(usize, usize)> for Mat3<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.0[i][j]
    }
}

impl<T> IndexMut<(usize, usize)> for Mat3<T> {
    #[inline(always)]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.0[i][j]
    }
}

/// f(0), f(1), f(2). Unlike `map` of an array it is inlined for certain, as kernels need it.
#[inline(always)]
pub fn three<T>(mut f: impl FnMut(usize) -> T) -> [T; 3] {
    [f(0), f(1), f(2)]
}

impl<T: Scalar> Mat3<T> {
    /// The matrix of `f(i, j)`.
    #[inline(always)]
    pub fn from_fn(mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut m = [[T::zero(); 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] = f(i, j);
            }
        }
        Self(m)
    }

    /// 0.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[T::zero(); 3]; 3])
    }

    /// I.
    #[inline(always)]
    pub fn identity() -> Self {
        Self::diagonal([T::one(); 3])
    }

    /// diag(d).
    #[inline(always)]
    pub fn diagonal(d: Vec3<T>) -> Self {
        Self::from_fn(|i, j| if i == j { d[i] } else { T::zero() })
    }

    /// The matrix with columns a, b, c.
    #[inline(always)]
    pub fn from_columns(a: Vec3<T>, b: Vec3<T>, c: Vec3<T>) -> Self {
        Self::from_fn(|i, j| [a[i], b[i], c[i]][j])
    }

    /// a bᵀ.
    #[inline(always)]
    pub fn outer(a: Vec3<T>, b: Vec3<T>) -> Self {
        Self::from_fn(|i, j| a[i] * b[j])
    }

    /// Column j.
    #[inline(always)]
    pub fn column(&self, j: usize) -> Vec3<T> {
        [self.0[0][j], self.0[1][j], self.0[2][j]]
    }

    /// Aᵀ.
    #[inline(always)]
    pub fn transpose(&self) -> Self {
        Self::from_fn(|i, j| self.0[j][i])
    }

    /// Aᵀ B.
    #[inline(always)]
    pub fn transpose_mul(&self, b: &Self) -> Self {
        let a = &self.0;
        let b = &b.0;
        Self::from_fn(|i, j| a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j])
    }

    /// A Bᵀ.
    #[inline(always)]
    pub fn mul_transpose(&self, b: &Self) -> Self {
        let a = &self.0;
        let b = &b.0;
        Self::from_fn(|i, j| a[i][0] * b[j][0] + a[i][1] * b[j][1] + a[i][2] * b[j][2])
    }

    /// A v.
    #[inline(always)]
    pub fn mul_vec(&self, v: Vec3<T>) -> Vec3<T> {
        let a = &self.0;
        three(
            #[inline(always)]
            |i| a[i][0] * v[0] + a[i][1] * v[1] + a[i][2] * v[2],
        )
    }

    /// c A.
    #[inline(always)]
    pub fn scale(&self, c: T) -> Self {
        Self::from_fn(|i, j| self.0[i][j] * c)
    }

    /// a A + b B.
    #[inline(always)]
    pub fn combine(a: T, A: &Self, b: T, B: &Self) -> Self {
        Self::from_fn(|i, j| A.0[i][j].mul_add(a, B.0[i][j] * b))
    }

    /// tr A.
    #[inline(always)]
    pub fn trace(&self) -> T {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }

    /// A : B = tr(AᵀB).
    #[inline(always)]
    pub fn dot(&self, b: &Self) -> T {
        let mut s = self.0[0][0] * b.0[0][0];
        for k in 1..9 {
            s = self.0[k / 3][k % 3].mul_add(b.0[k / 3][k % 3], s);
        }
        s
    }

    /// det A.
    #[inline(always)]
    pub fn det(&self) -> T {
        let a = &self.0;
        let minor = |i: usize, j: usize| a[1][i].mul_add(a[2][j], -(a[1][j] * a[2][i]));
        a[0][0].mul_add(minor(1, 2), a[0][1].mul_add(minor(2, 0), a[0][2] * minor(0, 1)))
    }

    /// Cofactor matrix ∂ det A/∂A = det(A) A⁻ᵀ, defined for singular A as well.
    #[inline(always)]
    pub fn cofactor(&self) -> Self {
        let a = &self.0;
        // Rows and columns after i and j, cyclically, make the sign come out by itself.
        Self::from_fn(|i, j| {
            let ([k, l], [m, n]) = ([(i + 1) % 3, (i + 2) % 3], [(j + 1) % 3, (j + 2) % 3]);
            a[k][m].mul_add(a[l][n], -(a[k][n] * a[l][m]))
        })
    }

    /// A⁻¹ (entries are not finite where A is singular).
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        let c = self.cofactor();
        let inv_det = T::one() / self.det();
        Self::from_fn(|i, j| c.0[j][i] * inv_det)
    }

    /// \[w\]×, the matrix of the cross product: \[w\]× v = w × v.
    #[inline(always)]
    pub fn skew(w: Vec3<T>) -> Self {
        let o = T::zero();
        Self([[o, -w[2], w[1]], [w[2], o, -w[0]], [-w[1], w[0], o]])
    }

    /// a with A − Aᵀ = \[a\]×; also the a with \[w\]× : A = w · a for every w.
    #[inline(always)]
    pub fn axial(&self) -> Vec3<T> {
        let a = &self.0;
        [a[2][1] - a[1][2], a[0][2] - a[2][0], a[1][0] - a[0][1]]
    }

    /// ½(A + Aᵀ).
    #[inline(always)]
    pub fn symmetric_part(&self) -> Self {
        Self::from_fn(|i, j| (self.0[i][j] + self.0[j][i]).scale(0.5))
    }
}

impl<T: Scalar> Add for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self::from_fn(|i, j| self.0[i][j] + b.0[i][j])
    }
}

impl<T: Scalar> Sub for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self::from_fn(|i, j| self.0[i][j] - b.0[i][j])
    }
}

impl<T: Scalar> Neg for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::from_fn(|i, j| -self.0[i][j])
    }
}

impl<T: Scalar> Mul for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        let a = &self.0;
        let b = &b.0;
        Self::from_fn(|i, j| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j])
    }
}
