//! Meshes and vectors between NumPy and lilyan.

use crate::errors::input;
use lilyan::body::{Mesh, TriMesh};
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

/// A surface in arrays: its name, vertices (n, 3) and triangles (m, 3).
pub type SurfaceArrays<'py> = (String, PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, i64>);

/// A surface as new NumPy arrays.
pub type OwnedSurfaceArrays<'py> = (String, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<i64>>);

/// The corners of edges of a tet with ten nodes, in the order of VTK, meshio and Abaqus: nodes 4 to 9.
const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];

fn has_columns(shape: &[usize], n: usize) -> bool {
    shape.len() == 2 && shape[1] == n
}

fn points(vertices: &PyReadonlyArray2<'_, f64>) -> Vec<[f64; 3]> {
    vertices.as_array().rows().into_iter().map(|x| [x[0], x[1], x[2]]).collect()
}

fn cells<const N: usize>(rows: &PyReadonlyArray2<'_, i64>) -> Result<Vec<[u32; N]>, String> {
    let mut cells = Vec::with_capacity(rows.shape()[0]);
    for row in rows.as_array().rows() {
        let mut cell = [0; N];
        for (to, n) in cell.iter_mut().zip(row) {
            *to =
                u32::try_from(*n).map_err(|_| format!("{n} is no number of a vertex; they count from 0"))?;
        }
        cells.push(cell);
    }
    Ok(cells)
}

/// The mesh of tets with ten nodes: corners are vertices, and nodes on edges are points of edges.
fn quadratic(all: Vec<[f64; 3]>, cells: &[[u32; 10]]) -> Result<Mesh, String> {
    let place = |n: u32| {
        all.get(n as usize).copied().ok_or(format!("there is no vertex {n}; there are {}", all.len()))
    };
    let mut corners: Vec<u32> = cells.iter().flat_map(|cell| cell[..4].to_vec()).collect();
    corners.sort_unstable();
    corners.dedup();
    let number = |n: u32| corners.binary_search(&n).map_or(0, |k| k as u32);
    let mut edges = BTreeMap::new();
    for cell in cells {
        for (k, [i, j]) in EDGES.into_iter().enumerate() {
            let (a, b) = (number(cell[i]), number(cell[j]));
            edges.insert([a.min(b), a.max(b)], place(cell[4 + k])?);
        }
    }
    let vertices = corners.iter().map(|n| place(*n)).collect::<Result<_, _>>()?;
    let tets = cells.iter().map(|cell| [0, 1, 2, 3].map(|k| number(cell[k]))).collect();
    let mut mesh = Mesh::new(vertices, tets);
    mesh.edge_points = edges;
    Ok(mesh)
}

/// The surface of these arrays. Indices and numbers are checked when a scene takes it.
pub fn surface((name, vertices, triangles): SurfaceArrays<'_>) -> PyResult<(String, TriMesh)> {
    let wrong = |what: &str| input(format!("surface {name:?}: {what}"));
    if !has_columns(vertices.shape(), 3) || !has_columns(triangles.shape(), 3) {
        return Err(wrong(
            "the vertices must be an array of shape (n, 3), the triangles one of shape (m, 3)",
        ));
    }
    let triangles = cells(&triangles).map_err(|e| wrong(&e))?;
    Ok((name, TriMesh { vertices: points(&vertices), triangles }))
}

/// The arrays of a surface.
pub fn of_surface<'py>(py: Python<'py>, name: &str, surface: &TriMesh) -> PyResult<OwnedSurfaceArrays<'py>> {
    let flat: Vec<i64> = surface.triangles.iter().flatten().map(|n| i64::from(*n)).collect();
    let triangles = flat.to_pyarray(py).reshape([flat.len() / 3, 3])?;
    Ok((name.to_owned(), rows(py, surface.vertices.as_flattened())?, triangles))
}

/// The mesh of these arrays. Indices, numbers and volumes are checked when a scene takes it.
pub fn mesh((name, vertices, tets, cell_data, point_data, tags): MeshArrays<'_>) -> PyResult<(String, Mesh)> {
    let wrong = |what: &str| input(format!("mesh {name:?}: {what}"));
    if !has_columns(vertices.shape(), 3) {
        return Err(wrong("the vertices must be an array of shape (n, 3)"));
    }
    let all = points(&vertices);
    let mut mesh = match tets.shape() {
        [_, 4] => Mesh::new(all, cells(&tets).map_err(|e| wrong(&e))?),
        [_, 10] => quadratic(all, &cells(&tets).map_err(|e| wrong(&e))?).map_err(|e| wrong(&e))?,
        _ => return Err(wrong("the tets must be an array of shape (m, 4), or (m, 10) with nodes on edges")),
    };
    let count = mesh.tets().len();
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

/// The arrays of a mesh. If it has nodes on edges, its tets have ten.
pub fn of_mesh<'py>(py: Python<'py>, name: &str, mesh: &Mesh) -> PyResult<OwnedMeshArrays<'py>> {
    let (vertices, tets, nodes) = if mesh.edge_points.is_empty() {
        (mesh.vertices.clone(), mesh.tets().iter().flatten().map(|n| i64::from(*n)).collect(), 4)
    } else {
        let (vertices, tets) = with_edge_nodes(mesh);
        (vertices, tets, 10)
    };
    let copy = |data: &BTreeMap<String, Vec<f64>>| {
        data.iter().map(|(name, values)| (name.clone(), values.to_pyarray(py))).collect()
    };
    let tets: Vec<i64> = tets;
    Ok((
        name.to_owned(),
        rows(py, vertices.as_flattened())?,
        tets.to_pyarray(py).reshape([tets.len() / nodes, nodes])?,
        copy(&mesh.cell_data),
        copy(&mesh.point_data),
        mesh.tags.to_pyarray(py),
    ))
}

/// Vertices followed by nodes on edges, and tets with ten nodes, flat.
fn with_edge_nodes(mesh: &Mesh) -> (Vec<[f64; 3]>, Vec<i64>) {
    let mut vertices = mesh.vertices.clone();
    let mut numbers = BTreeMap::new();
    let mut tets = Vec::with_capacity(10 * mesh.tets().len());
    for tet in mesh.tets() {
        tets.extend(tet.map(i64::from));
        for [i, j] in EDGES {
            let (a, b) = (tet[i].min(tet[j]), tet[i].max(tet[j]));
            let number = *numbers.entry([a, b]).or_insert_with(|| {
                let [x, y] = [a, b].map(|n| mesh.vertices[n as usize]);
                let middle = || std::array::from_fn(|k| 0.5 * (x[k] + y[k]));
                vertices.push(mesh.edge_points.get(&[a, b]).copied().unwrap_or_else(middle));
                vertices.len() as i64 - 1
            });
            tets.push(number);
        }
    }
    (vertices, tets)
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
