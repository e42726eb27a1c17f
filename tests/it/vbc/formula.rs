//! Pictures computed from a shader's own formula, as a reference.

/// A triangle in clip space, for pixels well inside it.
pub(super) struct Triangle {
    pub clip: [[f64; 4]; 3],
    pub size: [u32; 2],
}

impl Triangle {
    /// Perspective-correct weights of the corners at a pixel's centre; `None` within a pixel of an edge or outside.
    pub(super) fn weights(&self, x: u32, y: u32) -> Option<[f64; 3]> {
        let [width, height] = self.size.map(f64::from);
        let corner = |c: [f64; 4]| [(c[0] / c[3] + 1.0) / 2.0 * width, (c[1] / c[3] + 1.0) / 2.0 * height];
        let p = self.clip.map(corner);
        let at = [f64::from(x) + 0.5, f64::from(y) + 0.5];
        let cross =
            |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let area = cross(p[0], p[1], p[2]);
        let mut weights = [0.0; 3];
        for (i, weight) in weights.iter_mut().enumerate() {
            let (a, b) = (p[(i + 1) % 3], p[(i + 2) % 3]);
            let edge = ((b[0] - a[0]).powi(2) + (b[1] - a[1]).powi(2)).sqrt();
            let signed = cross(a, b, at) / area.signum();
            if signed / edge < 1.0 {
                return None;
            }
            *weight = signed / area.abs() / self.clip[i][3];
        }
        let sum: f64 = weights.iter().sum();
        Some(weights.map(|weight| weight / sum))
    }

    /// Interpolates corner values at a pixel.
    pub(super) fn mix<const N: usize>(&self, x: u32, y: u32, corners: [[f64; N]; 3]) -> Option<[f64; N]> {
        let weights = self.weights(x, y)?;
        Some(std::array::from_fn(|n| {
            (0..3).map(|i| weights[i] * corners[i][n]).sum()
        }))
    }
}

/// Largest difference, in 255ths, between drawn RGBA8 pixels and a formula in [0, 1], over the pixels where it is
/// defined.
pub(super) fn worst(rgba: &[u8], size: [u32; 2], formula: impl Fn(u32, u32) -> Option<[f64; 4]>) -> (f64, usize) {
    let (mut worst, mut checked) = (0.0f64, 0);
    for y in 0..size[1] {
        for x in 0..size[0] {
            let Some(wanted) = formula(x, y) else { continue };
            checked += 1;
            let index = (y * size[0] + x) as usize * 4;
            for (have, want) in rgba[index..index + 4].iter().zip(wanted) {
                worst = worst.max((f64::from(*have) - want.clamp(0.0, 1.0) * 255.0).abs());
            }
        }
    }
    (worst, checked)
}

/// Product of a column-major matrix of `N` rows with a vector.
pub(super) fn transform<const N: usize>(matrix: &[f64], vector: &[f64]) -> [f64; N] {
    std::array::from_fn(|row| {
        vector
            .iter()
            .enumerate()
            .map(|(column, v)| matrix[column * N + row] * v)
            .sum()
    })
}
