//! fenris on the common beam: its assembly, its conjugate gradients with the diagonal.

#[path = "../../common.rs"]
mod common;

use common::{E, G, H, INNER, NU, RHO, TOLERANCE};
use fenris::assembly::global::{CsrAssembler, VectorAssembler, apply_homogeneous_dirichlet_bc_csr};
use fenris::assembly::local::{
    Density, ElementEllipticAssemblerBuilder, ElementMassAssembler, UniformQuadratureTable,
};
use fenris::connectivity::Tet4Connectivity;
use fenris::mesh::Tet4Mesh;
use fenris::nalgebra::{DVector, Point3, U3};
use fenris::nalgebra_sparse::CsrMatrix;
use fenris::quadrature::total_order::tetrahedron;
use fenris_solid::MaterialEllipticOperator;
use fenris_solid::materials::{LameParameters, NeoHookeanMaterial, YoungPoisson};
use fenris_sparse::cg::{ConjugateGradient, RelativeResidualCriterion};

struct Beam {
    mesh: Tet4Mesh<f64>,
    quadrature: UniformQuadratureTable<f64, U3, LameParameters<f64>>,
    mass: CsrMatrix<f64>,
    stiffness: CsrMatrix<f64>,
    weight: DVector<f64>,
    held: Vec<usize>,
    tip: Vec<usize>,
    u: DVector<f64>,
    v: DVector<f64>,
}

fn prepare(points: &[[f64; 3]], tets: &[[usize; 4]]) -> Beam {
    let vertices = points.iter().map(|&p| Point3::from(p)).collect();
    let mesh = Tet4Mesh::from_vertices_and_connectivity(
        vertices,
        tets.iter().map(|&t| Tet4Connectivity(t)).collect(),
    );
    let parameters = LameParameters::from(YoungPoisson { young: E, poisson: NU });
    let quadrature =
        UniformQuadratureTable::from_quadrature_and_uniform_data(tetrahedron(1).unwrap(), parameters);
    let dense =
        UniformQuadratureTable::from_quadrature_and_uniform_data(tetrahedron(2).unwrap(), Density(RHO));
    let mass = ElementMassAssembler::with_solution_dim(3).with_quadrature_table(&dense).with_space(&mesh);
    let mass = CsrAssembler::default().assemble(&mass).unwrap() / (H * H);
    let size = 3 * points.len();
    let weight = &mass * DVector::from_fn(size, |i, _| if i % 3 == 1 { G * H * H } else { 0.0 });
    let at = |x: f64| points.iter().enumerate().filter(move |(_, p)| p[0] == x).map(|(i, _)| i);
    Beam {
        stiffness: mass.clone(),
        held: at(0.0).collect(),
        tip: at(4.0).map(|i| 3 * i + 1).collect(),
        u: DVector::zeros(size),
        v: DVector::zeros(size),
        mesh,
        quadrature,
        mass,
        weight,
    }
}

impl Beam {
    fn step(&mut self) -> Option<usize> {
        let operator = MaterialEllipticOperator::new(&NeoHookeanMaterial);
        let (vectors, matrices) = (VectorAssembler::<f64>::default(), CsrAssembler::default());
        let before = self.u.clone();
        self.u += &self.v * H;
        let ballistic = self.u.clone();
        let mut first = None;
        for k in 0.. {
            let elastic = ElementEllipticAssemblerBuilder::new()
                .with_finite_element_space(&self.mesh)
                .with_operator(&operator)
                .with_quadrature_table(&self.quadrature)
                .with_u(&self.u)
                .build();
            let mut gradient = vectors.assemble_vector(&elastic).unwrap();
            gradient += &self.mass * (&self.u - &ballistic) - &self.weight;
            self.held.iter().for_each(|i| gradient.rows_mut(3 * i, 3).fill(0.0));
            let size = gradient.norm();
            if size <= TOLERANCE * *first.get_or_insert(size) {
                self.v = (&self.u - before) / H;
                return Some(k);
            }
            assert!(k < 50, "Newton's method does not converge");
            self.stiffness.values_mut().copy_from_slice(self.mass.values());
            matrices.assemble_into_csr(&mut self.stiffness, &elastic).unwrap();
            apply_homogeneous_dirichlet_bc_csr(&mut self.stiffness, &self.held, 3);
            let diagonal = self.stiffness.diagonal_as_csr();
            let inverse = CsrMatrix::try_from_pattern_and_values(
                diagonal.pattern().clone(),
                diagonal.values().iter().map(|d| 1.0 / d).collect(),
            );
            let mut correction = DVector::zeros(gradient.len());
            ConjugateGradient::new()
                .with_operator(&self.stiffness)
                .with_preconditioner(&inverse.unwrap())
                .with_stopping_criterion(RelativeResidualCriterion::new(INNER))
                .solve_with_guess(&gradient, &mut correction)
                .unwrap();
            self.u -= correction;
        }
        unreachable!()
    }
}

fn main() {
    let tip = |beam: &Beam| beam.tip.iter().map(|&i| beam.u[i]).sum::<f64>() / beam.tip.len() as f64;
    let settings = "CG with the diagonal";
    common::main("fenris", "0.0.33", settings, &[], prepare, Beam::step, tip);
}
