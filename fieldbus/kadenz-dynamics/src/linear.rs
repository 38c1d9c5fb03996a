// SPDX-License-Identifier: Apache-2.0
//! Solving with a symmetric positive definite matrix, in place.

/// Factors the row-major `n × n` matrix as L·Lᵀ (Cholesky; the lower half is overwritten) and solves for `x`, which
/// enters as the right-hand side. False when the matrix is not positive definite; `x` is then useless.
pub(crate) fn solve(matrix: &mut [f64], x: &mut [f64]) -> bool {
    let n = x.len();
    for row in 0..n {
        for column in 0..=row {
            let dot: f64 = (0..column).map(|k| matrix[row * n + k] * matrix[column * n + k]).sum();
            let rest = matrix[row * n + column] - dot;
            if row == column {
                // Written so that a NaN is refused too.
                if !matches!(rest.partial_cmp(&0.0), Some(std::cmp::Ordering::Greater)) {
                    return false;
                }
                matrix[row * n + row] = rest.sqrt();
            } else {
                matrix[row * n + column] = rest / matrix[column * n + column];
            }
        }
    }
    for row in 0..n {
        let dot: f64 = (0..row).map(|k| matrix[row * n + k] * x[k]).sum();
        x[row] = (x[row] - dot) / matrix[row * n + row];
    }
    for row in (0..n).rev() {
        let dot: f64 = (row + 1..n).map(|k| matrix[k * n + row] * x[k]).sum();
        x[row] = (x[row] - dot) / matrix[row * n + row];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn a_known_system_is_solved() {
        let mut matrix = [4.0, 2.0, 0.5, 2.0, 5.0, 1.0, 0.5, 1.0, 3.0];
        // Right-hand side of x = (1, -2, 3).
        let mut x = [4.0 - 4.0 + 1.5, 2.0 - 10.0 + 3.0, 0.5 - 2.0 + 9.0];
        assert!(solve(&mut matrix, &mut x));
        for (got, expected) in x.iter().zip([1.0, -2.0, 3.0]) {
            assert!((got - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn an_indefinite_matrix_and_a_nan_are_refused() {
        assert!(!solve(&mut [1.0, 2.0, 2.0, 1.0], &mut [1.0, 1.0]));
        assert!(!solve(&mut [f64::NAN, 0.0, 0.0, 1.0], &mut [1.0, 1.0]));
    }
}
