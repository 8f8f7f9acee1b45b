//! Bodies that cannot be simulated are refused when they are added, with what is wrong.

mod common;

use lilyan_solid::mesh::{CellBlock, Mesh};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, ModelBuilder};

fn body(change: impl Fn(&mut BodyInput)) -> BodyInput {
    let mut body = common::body(box_mesh([1.0; 3], [1; 3]).unwrap(), "neo-hookean");
    change(&mut body);
    body
}

fn refused(body: BodyInput) -> String {
    ModelBuilder::default().body(body).expect_err("it is accepted").to_string()
}

#[test]
fn bad_bodies_are_refused() {
    let corners = || vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let of = |mesh: Mesh| common::body(mesh, "neo-hookean");
    assert!(refused(of(Mesh::new(corners(), vec![[0, 1, 2, 9]]))).contains('9'));
    assert!(refused(of(Mesh::new(corners(), Vec::new()))).contains("no "));
    let sheet = Mesh::of_cells(corners(), vec![CellBlock::from(vec![[0u32, 1, 2]])]);
    assert!(refused(of(sheet)).contains("no tets"));
    let mut nan = corners();
    nan[2][1] = f64::NAN;
    assert!(refused(of(Mesh::new(nan, vec![[0, 1, 2, 3]]))).contains("finite"));
    for rho in [-1.0, 0.0, f64::NAN] {
        assert!(refused(body(|b| b.rho = vec![rho])).contains("density"));
    }
    assert!(refused(body(|b| b.rho = vec![1.0; 2])).contains("2 densities"));
    assert!(refused(body(|b| b.start = Some(vec![[0.0; 3]; 5]))).contains("5 positions"));
    assert!(refused(body(|b| b.masses = Some(vec![1.0]))).contains("1 masses"));
    assert!(ModelBuilder::default().body(body(|_| {})).is_ok());
}
