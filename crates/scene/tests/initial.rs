//! How bodies start.

use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;

/// A wide slab of few cells, twisted about its thin direction.
fn twisted(model: &str, degrees: f64) -> Scene {
    let text = format!(
        r#"
[time]
end = 1.0
step = 0.01
[[body]]
name = "slab"
mesh = {{ box = {{ size = [1, 10, 10], cells = [2, 2, 2] }} }}
material = {{ model = "{model}", E = 1e5, nu = 0.3, rho = 1000 }}
initial = {{ twist = {{ axis = [1, 0, 0], degrees = {degrees} }} }}
"#
    );
    Scene::from_str_with(&text, "slab.toml", &[]).unwrap()
}

#[test]
fn a_start_inside_out_is_refused_by_materials_that_cannot_be() {
    for model in ["neo-hookean", "neo-hookean-log", "mooney-rivlin"] {
        assert!(build(&twisted(model, 60.0)).is_ok(), "{model}");
        let Err(error) = build(&twisted(model, 320.0)) else { panic!("{model} accepts an inverted start") };
        let message = error.to_string();
        for part in ["slab.toml:5", "slab", "inside out", model, "stable-neo-hookean"] {
            assert!(message.contains(part), "{message:?} does not say {part:?}");
        }
    }
    assert!(build(&twisted("stable-neo-hookean", 320.0)).is_ok());
}
