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

/// A state inside the scene is taken to the bit, and only where it fits.
#[test]
fn a_saved_state_is_where_it_starts() {
    use lilyan_scene::schema::Snapshot;
    let scene = |initial: &str| {
        format!(
            "time = {{ end = 1, step = 0.01 }}\n[[body]]\nmesh = {{ box = {{ size = [1, 1, 1], cells = [1, 1, 1] }} }}\n\
             material = {{ E = 1e5, nu = 0.3, rho = 1000 }}\ninitial = {initial}\n"
        )
    };
    let read = |text: &str| lilyan_scene::schema::Scene::from_str(text, "scene.toml");
    let corner = |k: usize| [k & 1, k >> 1 & 1, k >> 2].map(|x| x as f64);
    let plain = read(&scene("{}")).unwrap();
    let rest = lilyan_scene::build::build(&plain).unwrap().simulation.state().q.clone();
    assert!((0..8).all(|k| rest.chunks(3).any(|x| x == corner(k))));
    let saved = Snapshot {
        positions: rest.iter().map(|x| 1.1 * x + 0.3).collect(),
        velocities: rest.iter().map(|x| x / 3.0).collect(),
    };
    let with = read(&scene(&format!("{{ state = \"{}\" }}", saved.encode()))).unwrap();
    let state = lilyan_scene::build::build(&with).unwrap().simulation.into_parts().2;
    assert_eq!((state.q, state.v), (saved.positions.clone(), saved.velocities.clone()));

    let short = Snapshot { positions: vec![0.0; 3], velocities: vec![0.0; 3] };
    let other = read(&scene(&format!("{{ state = \"{}\" }}", short.encode()))).unwrap();
    let error = lilyan_scene::build::build(&other).err().unwrap().to_string();
    assert!(error.contains("1 vertices") && error.contains('8'), "{error}");
    for wrong in ["{ state = \"nonsense\" }", "{ state = \"\" }"] {
        assert!(read(&scene(wrong)).unwrap_err().to_string().contains("initial.state"), "{wrong}");
    }
    let both = format!("{{ stretch = [1, 1, 2], state = \"{}\" }}", saved.encode());
    assert!(read(&scene(&both)).unwrap_err().to_string().contains("take the other keys out"));
}
