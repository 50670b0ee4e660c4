//! Fourier transform of numbers on a periodic cubic grid. It uses only `+ − × ÷ √`, and therefore gives the same bits
//! on all platforms.

use std::ops::{Add, Mul, Sub};

/// A complex number: its real and imaginary parts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Complex(pub f64, pub f64);

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
}

/// Applies the Fourier transform to the numbers on a cubic grid along all three axes, without scaling. Each side has
/// `side` cells, a power of two. `sign` is −1 for the transform to wave numbers and 1 for the inverse transform, which
/// multiplies all numbers by side³.
pub(super) fn transform(cells: &mut [Complex], side: usize, sign: f64) {
    let turns = turns(side, sign);
    let mut row = vec![Complex::default(); side];
    for stride in [1, side, side * side] {
        for first in (0..cells.len()).filter(|cell| cell / stride % side == 0) {
            for (nth, number) in row.iter_mut().enumerate() {
                *number = cells[first + nth * stride];
            }
            transform_row(&mut row, &turns);
            for (nth, number) in row.iter().enumerate() {
                cells[first + nth * stride] = *number;
            }
        }
    }
}

/// Returns the powers 0 … side/2 − 1 of e^(±2πi/side), where ± is the sign of `sign`.
fn turns(side: usize, sign: f64) -> Vec<Complex> {
    // Half of the angle: cos(x/2) = √((1 + cos x)/2), sin(x/2) = sin x / (2 cos(x/2)).
    let mut turn = Complex(-1.0, 0.0);
    let mut parts = 2;
    while parts < side {
        turn = if parts == 2 {
            Complex(0.0, sign)
        } else {
            let cos = ((1.0 + turn.0) / 2.0).sqrt();
            Complex(cos, turn.1 / (2.0 * cos))
        };
        parts *= 2;
    }
    std::iter::successors(Some(Complex(1.0, 0.0)), |power| Some(*power * turn)).take(side / 2).collect()
}

/// Applies the Fourier transform to one row of numbers (Cooley and Tukey 1965). `turns` contains the powers of
/// e^(±2πi/side).
fn transform_row(row: &mut [Complex], turns: &[Complex]) {
    let side = row.len();
    let unused = usize::BITS - side.trailing_zeros();
    for nth in 0..side {
        let other = nth.reverse_bits() >> unused;
        if nth < other {
            row.swap(nth, other);
        }
    }
    let mut half = 1;
    while half < side {
        for first in (0..side).step_by(2 * half) {
            for nth in first..first + half {
                let turned = row[nth + half] * turns[(nth - first) * (side / (2 * half))];
                (row[nth], row[nth + half]) = (row[nth] + turned, row[nth] - turned);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_of_a_plane_wave_has_one_peak_and_the_inverse_restores_the_wave() {
        const SIDE: usize = 16;
        let wave = |cell: usize| {
            let angle =
                std::f64::consts::TAU * (3.0 * (cell % SIDE) as f64 + 5.0 * (cell / 256) as f64) / 16.0;
            Complex(angle.cos(), angle.sin())
        };
        let before: Vec<Complex> = (0..SIDE.pow(3)).map(wave).collect();
        let mut cells = before.clone();
        transform(&mut cells, SIDE, -1.0);
        for (cell, number) in cells.iter().enumerate() {
            let expected = if cell == 3 + 5 * 256 { 4096.0 } else { 0.0 };
            assert!((number.0 - expected).abs() < 1e-9 && number.1.abs() < 1e-9, "{cell}: {number:?}");
        }
        transform(&mut cells, SIDE, 1.0);
        for (number, expected) in cells.iter().zip(&before) {
            let rest = Complex(number.0 / 4096.0, number.1 / 4096.0) - *expected;
            assert!(rest.0.abs() < 1e-12 && rest.1.abs() < 1e-12);
        }
    }
}
