//! Meshes and vectors between NumPy and lilyan.

use crate::errors::input;
use lilyan::body::Mesh;
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods, ToPyArray,
};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// A mesh in arrays: its name, vertices (n, 3), tets (m, 4), numbers per tet and per vertex, and the region of each tet.
pub type MeshArrays<'py> = (
    String,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray2<'py, i64>,
    BTreeMap<String, PyReadonlyArray1<'py, f64>>,
    BTreeMap<String, PyReadonlyArray1<'py, f64>>,
    Option<PyReadonlyArray1<'py, i64>>,
);

/// The arrays of a mesh as new NumPy arrays.
pub type OwnedMeshArrays<'py> = (
    String,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<i64>>,
    BTreeMap<String, Bound<'py, PyArray1<f64>>>,
    BTreeMap<String, Bound<'py, PyArray1<f64>>>,
    Bound<'py, PyArray1<i64>>,
);

/// The mesh of these arrays. Indices, numbers and volumes are checked when a scene takes it.
pub fn mesh((name, vertices, tets, cell_data, point_data, tags): MeshArrays<'_>) -> PyResult<(String, Mesh)> {
    let wrong = |what: &str| input(format!("mesh {name:?}: {what}"));
    let columns = |shape: &[usize], n: usize| shape.len() == 2 && shape[1] == n;
    if !columns(vertices.shape(), 3) {
        return Err(wrong("the vertices must be an array of shape (n, 3)"));
    }
    if !columns(tets.shape(), 4) {
        return Err(wrong("the tets must be an array of shape (m, 4)"));
    }
    let points = vertices.as_array().rows().into_iter().map(|x| [x[0], x[1], x[2]]).collect();
    let index = |n: &i64| {
        u32::try_from(*n).map_err(|_| wrong(&format!("{n} is no number of a vertex; they count from 0")))
    };
    let corner = |row: numpy::ndarray::ArrayView1<'_, i64>| -> PyResult<[u32; 4]> {
        Ok([index(&row[0])?, index(&row[1])?, index(&row[2])?, index(&row[3])?])
    };
    let cells = tets.as_array().rows().into_iter().map(corner).collect::<PyResult<Vec<_>>>()?;
    let count = cells.len();
    let mut mesh = Mesh::new(points, cells);
    let copy = |data: BTreeMap<String, PyReadonlyArray1<'_, f64>>| {
        data.into_iter().map(|(name, values)| (name, values.as_array().to_vec())).collect()
    };
    mesh.cell_data = copy(cell_data);
    mesh.point_data = copy(point_data);
    if let Some(tags) = tags {
        mesh.tags = tags.as_array().to_vec();
        if mesh.tags.len() != count {
            return Err(wrong(&format!("{} tags for {count} tets", mesh.tags.len())));
        }
    }
    Ok((name, mesh))
}

/// The arrays of a mesh.
pub fn of_mesh<'py>(py: Python<'py>, name: &str, mesh: &Mesh) -> PyResult<OwnedMeshArrays<'py>> {
    let tets: Vec<i64> = mesh.tets().iter().flatten().map(|n| i64::from(*n)).collect();
    let copy = |data: &BTreeMap<String, Vec<f64>>| {
        data.iter().map(|(name, values)| (name.clone(), values.to_pyarray(py))).collect()
    };
    Ok((
        name.to_owned(),
        rows(py, mesh.vertices.as_flattened())?,
        tets.to_pyarray(py).reshape([tets.len() / 4, 4])?,
        copy(&mesh.cell_data),
        copy(&mesh.point_data),
        mesh.tags.to_pyarray(py),
    ))
}

/// A flat vector as a new array of rows of three.
pub fn rows<'py>(py: Python<'py>, flat: &[f64]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    flat.to_pyarray(py).reshape([flat.len() / 3, 3])
}

/// Copies an array of rows of three into a flat vector of this length.
pub fn flat(array: &Bound<'_, PyAny>, name: &str, length: usize) -> PyResult<Vec<f64>> {
    let n = length / 3;
    let wrong = || input(format!("{name} must be an array of numbers of shape ({n}, 3)"));
    let array: PyReadonlyArray2<'_, f64> = array.extract().map_err(|_| wrong())?;
    if array.shape() != [n, 3] {
        return Err(wrong());
    }
    let values: Vec<f64> = array.as_array().iter().copied().collect();
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => {
            Err(input(format!("{name}: row {} holds {}, which is no finite number", at / 3, values[at])))
        }
        None => Ok(values),
    }
}
