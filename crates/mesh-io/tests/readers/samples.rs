//! One small body, two tets on five vertices with tags 1 and 2, in every format; and its surface.

use lilyan_mesh_io::readers::{Content, READERS};
use std::io::Write;
use std::path::Path;

pub const VERTICES: [[f64; 3]; 5] =
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
pub const TETS: [[u32; 4]; 2] = [[0, 1, 2, 3], [1, 2, 3, 4]];
pub const FACES: [[u32; 3]; 6] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4], [2, 3, 4], [3, 1, 4]];

/// A file: its name, its content, and its partner for TetGen.
pub struct Sample {
    pub label: &'static str,
    pub extension: &'static str,
    pub data: Vec<u8>,
    pub partner: Option<(&'static str, Vec<u8>)>,
    /// Whether it gives the tags 1 and 2.
    pub tags: bool,
    pub is_text: bool,
}

fn sample(label: &'static str, extension: &'static str, data: impl Into<Vec<u8>>) -> Sample {
    let data = data.into();
    let is_text = data.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
    Sample { label, extension, data, partner: None, tags: true, is_text }
}

fn join<T: std::fmt::Display>(items: impl IntoIterator<Item = T>, by: &str) -> String {
    items.into_iter().map(|x| x.to_string()).collect::<Vec<_>>().join(by)
}

/// Bytes in either byte order.
struct Out(Vec<u8>, bool);

impl Out {
    fn put<const N: usize>(&mut self, mut le: [u8; N]) -> &mut Self {
        if self.1 {
            le.reverse();
        }
        self.0.extend(le);
        self
    }
    fn i32(&mut self, x: i32) -> &mut Self {
        self.put(x.to_le_bytes())
    }
    fn u64(&mut self, x: u64) -> &mut Self {
        self.put(x.to_le_bytes())
    }
    fn f64(&mut self, x: f64) -> &mut Self {
        self.put(x.to_le_bytes())
    }
    fn text(&mut self, s: &str) -> &mut Self {
        self.0.extend(s.as_bytes());
        self
    }
}

const NAMES: &str =
    "$PhysicalNames\n4\n0 9 \"tip\"\n2 7 \"base\"\n3 1 \"soft\"\n3 2 \"hard part\"\n$EndPhysicalNames\n";

fn gmsh2_text() -> String {
    let mut s = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n{NAMES}$Nodes\n5\n");
    for (i, v) in VERTICES.iter().enumerate() {
        s += &format!("{} {}\n", 10 * i + 3, join(v, " "));
    }
    s += "$EndNodes\n$Elements\n4\n1 15 2 9 1 43\n2 2 2 7 1 3 23 13\n3 4 2 1 1 3 13 23 33\n4 4 2 2 2 13 23 33 43\n$EndElements\n";
    s
}

fn gmsh2_binary(big: bool) -> Vec<u8> {
    let mut o = Out(Vec::new(), big);
    o.text("$MeshFormat\n2.2 1 8\n").i32(1).text(&format!("\n$EndMeshFormat\n{NAMES}$Nodes\n5\n"));
    for (i, v) in VERTICES.iter().enumerate() {
        o.i32(10 * i as i32 + 3).f64(v[0]).f64(v[1]).f64(v[2]);
    }
    o.text("\n$EndNodes\n$Elements\n4\n");
    for block in [
        &[15, 1, 2, 1, 9, 1, 43][..],
        &[2, 1, 2, 2, 7, 1, 3, 23, 13],
        &[4, 2, 2, 3, 1, 1, 3, 13, 23, 33, 4, 2, 2, 13, 23, 33, 43],
    ] {
        block.iter().for_each(|&i| {
            o.i32(i);
        });
    }
    o.text("\n$EndElements\n");
    o.0
}

fn gmsh4_text() -> String {
    let mut s = format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n{NAMES}$Entities\n1 0 1 2\n");
    s += "1 1 1 1 1 9\n1 0 0 0 1 1 1 1 7 0\n1 0 0 0 1 1 1 1 1 1 1\n2 0 0 0 1 1 1 1 2 0\n$EndEntities\n$Nodes\n1 5 3 43\n3 1 0 5\n";
    s += "3\n13\n23\n33\n43\n";
    for v in VERTICES {
        s += &format!("{}\n", join(v, " "));
    }
    s += "$EndNodes\n$Elements\n4 4 1 4\n0 1 15 1\n1 43\n2 1 2 1\n2 3 23 13\n3 1 4 1\n3 3 13 23 33\n3 2 4 1\n4 13 23 33 43\n$EndElements\n";
    s
}

fn gmsh4_binary(big: bool) -> Vec<u8> {
    let mut o = Out(Vec::new(), big);
    o.text("$MeshFormat\n4.1 1 8\n").i32(1).text(&format!("\n$EndMeshFormat\n{NAMES}$Entities\n"));
    [1, 0, 1, 2].iter().for_each(|&n| {
        o.u64(n);
    });
    o.i32(1).f64(1.0).f64(1.0).f64(1.0).u64(1).i32(9);
    for (tag, physical) in [(1, 7), (1, 1), (2, 2)] {
        o.i32(tag);
        (0..6).for_each(|_| {
            o.f64(0.5);
        });
        o.u64(1).i32(physical).u64(0);
    }
    o.text("\n$EndEntities\n$Nodes\n").u64(1).u64(5).u64(3).u64(43).i32(3).i32(1).i32(0).u64(5);
    (0..5).for_each(|i| {
        o.u64(10 * i + 3);
    });
    VERTICES.iter().flatten().for_each(|&x| {
        o.f64(x);
    });
    o.text("\n$EndNodes\n$Elements\n").u64(4).u64(4).u64(1).u64(4);
    for (head, ids) in [
        ([0, 1, 15], &[1, 43][..]),
        ([2, 1, 2], &[2, 3, 23, 13]),
        ([3, 1, 4], &[3, 3, 13, 23, 33]),
        ([3, 2, 4], &[4, 13, 23, 33, 43]),
    ] {
        head.iter().for_each(|&i| {
            o.i32(i);
        });
        o.u64(1);
        ids.iter().for_each(|&i| {
            o.u64(i);
        });
    }
    o.text("\n$EndElements\n");
    o.0
}

fn vtk_text(version: &str) -> String {
    let mut s = format!(
        "# vtk DataFile Version {version}\nsample\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
    );
    s += &join(VERTICES.iter().flatten(), " ");
    s += match version {
        "5.1" => "\nCELLS 3 8\nOFFSETS vtktypeint64\n0 4 8\nCONNECTIVITY vtktypeint64\n0 1 2 3 1 2 3 4\n",
        _ => "\nCELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\n",
    };
    s + "CELL_TYPES 2\n10\n10\nCELL_DATA 2\nSCALARS mat_id int 1\nLOOKUP_TABLE default\n1\n2\nFIELD FieldData 1\nstiff 1 2 double\n1.5 2.5\n"
}

fn vtk_binary(version: &str) -> Vec<u8> {
    let mut o = Out(Vec::new(), true);
    o.text(&format!(
        "# vtk DataFile Version {version}\nsample\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
    ));
    VERTICES.iter().flatten().for_each(|&x| {
        o.f64(x);
    });
    if version == "5.1" {
        o.text("\nCELLS 3 8\nOFFSETS vtktypeint64\n")
            .u64(0)
            .u64(4)
            .u64(8)
            .text("\nCONNECTIVITY vtktypeint64\n");
        TETS.iter().flatten().for_each(|&i| {
            o.u64(u64::from(i));
        });
    } else {
        o.text("\nCELLS 2 10\n");
        TETS.iter().for_each(|t| {
            o.i32(4);
            t.iter().for_each(|&i| {
                o.i32(i as i32);
            });
        });
    }
    o.text("\nCELL_TYPES 2\n")
        .i32(10)
        .i32(10)
        .text("\nCELL_DATA 2\nSCALARS mat_id int 1\nLOOKUP_TABLE default\n");
    o.i32(1).i32(2).text("\nFIELD FieldData 1\nstiff 1 2 double\n").f64(1.5).f64(2.5).text("\n");
    o.0
}

fn base64(data: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut s = String::new();
    for c in data.chunks(3) {
        let word = c.iter().fold(0u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - c.len()));
        for k in 0..4 {
            s.push(if k > c.len() { '=' } else { digits[(word >> (18 - 6 * k)) as usize & 63] as char });
        }
    }
    s
}

/// `mode`: ascii, binary, zlib, raw (appended), base64 (appended).
fn vtu(mode: &str, big: bool) -> Vec<u8> {
    let floats = |xs: &[f64]| {
        let mut o = Out(Vec::new(), big);
        xs.iter().for_each(|&x| {
            o.f64(x);
        });
        (join(xs, " "), o.0)
    };
    let ints = |xs: &[u64]| {
        let mut o = Out(Vec::new(), big);
        xs.iter().for_each(|&x| {
            o.u64(x);
        });
        (join(xs, " "), o.0)
    };
    let flat: Vec<f64> = VERTICES.iter().flatten().copied().collect();
    let arrays = [
        ("CellData", "mat_id", "Int64", 1, ints(&[1, 2])),
        ("CellData", "stiff", "Float64", 1, floats(&[1.5, 2.5])),
        ("Points", "Points", "Float64", 3, floats(&flat)),
        ("Cells", "connectivity", "Int64", 1, ints(&TETS.map(|t| t.map(u64::from)).concat())),
        ("Cells", "offsets", "UInt64", 1, ints(&[4, 8])),
        ("Cells", "types", "UInt8", 1, ("10 10".to_string(), vec![10, 10])),
    ];
    let wide = mode == "raw";
    let header = |ns: &[usize]| {
        let mut o = Out(Vec::new(), big);
        for &n in ns {
            if wide {
                o.u64(n as u64)
            } else {
                o.i32(n as i32)
            };
        }
        o.0
    };
    let mut appended = Vec::new();
    let mut s = format!(
        "<?xml version=\"1.0\"?>\n<!-- a > b -->\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"{}\" header_type=\"{}\"{}>\n<UnstructuredGrid><Piece NumberOfPoints=\"5\" NumberOfCells=\"2\">\n",
        if big { "BigEndian" } else { "LittleEndian" },
        if wide { "UInt64" } else { "UInt32" },
        if mode == "zlib" { " compressor=\"vtkZLibDataCompressor\"" } else { "" },
    );
    for (section, name, kind, components, (text, bytes)) in arrays {
        let plain = [header(&[bytes.len()]), bytes.clone()].concat();
        let (format, body) = match mode {
            "ascii" => ("format=\"ascii\"".to_string(), text),
            "binary" => ("format=\"binary\"".to_string(), base64(&plain)),
            "zlib" => {
                // Two blocks, so that the list of sizes is used.
                let half = bytes.len() / 2;
                let packed: Vec<Vec<u8>> = [&bytes[..half], &bytes[half..]]
                    .map(|b| {
                        let mut e =
                            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
                        e.write_all(b).unwrap();
                        e.finish().unwrap()
                    })
                    .into();
                let head = header(&[2, half, bytes.len() - half, packed[0].len(), packed[1].len()]);
                ("format=\"binary\"".to_string(), base64(&head) + &base64(&packed.concat()))
            }
            _ => {
                let at = appended.len();
                appended.extend(if mode == "raw" { plain } else { base64(&plain).into_bytes() });
                (format!("format=\"appended\" offset=\"{at}\""), String::new())
            }
        };
        s += &format!(
            "<{section}><DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" {format}>{body}</DataArray></{section}>\n"
        );
    }
    s += "</Piece></UnstructuredGrid>\n";
    let mut out = s.into_bytes();
    if !appended.is_empty() {
        let encoding = if mode == "raw" { "raw" } else { "base64" };
        out.extend(format!("<AppendedData encoding=\"{encoding}\">\n_").bytes());
        out.extend(&appended);
        out.extend(b"\n</AppendedData>\n");
    }
    out.extend(b"</VTKFile>\n");
    out
}

fn ply(format: &str) -> Vec<u8> {
    let mut o = Out(Vec::new(), format == "binary_big_endian");
    o.text(&format!("ply\nformat {format} 1.0\ncomment sample\nelement vertex 5\nproperty double x\nproperty double y\nproperty double z\nproperty uchar red\nelement face 6\nproperty list uchar int vertex_indices\nend_header\n"));
    for v in VERTICES {
        if format == "ascii" {
            o.text(&format!("{} 7\n", join(v, " ")));
        } else {
            o.f64(v[0]).f64(v[1]).f64(v[2]).put([7]);
        }
    }
    for f in FACES {
        if format == "ascii" {
            o.text(&format!("3 {}\n", join(f, " ")));
        } else {
            o.put([3]);
            f.iter().for_each(|&i| {
                o.i32(i as i32);
            });
        }
    }
    o.0
}

fn stl(binary: bool) -> Vec<u8> {
    let mut o = Out(Vec::new(), false);
    if binary {
        o.text(&format!("{:80}", "solid binary sample")).i32(6);
    } else {
        o.text("solid sample\n");
    }
    for f in FACES {
        if binary {
            (0..3).for_each(|_| {
                o.put(0f32.to_le_bytes());
            });
        } else {
            o.text("facet normal 0 0 0\n outer loop\n");
        }
        for v in f.map(|i| VERTICES[i as usize]) {
            if binary {
                v.iter().for_each(|&x| {
                    o.put((x as f32).to_le_bytes());
                });
            } else {
                o.text(&format!("  vertex {}\n", join(v, " ")));
            }
        }
        if binary {
            o.put([0, 0])
        } else {
            o.text(" endloop\nendfacet\n")
        };
    }
    if !binary {
        o.text("endsolid sample\n");
    }
    o.0
}

/// The same body as a file, for formats whose text needs no making: `tests/data/body.EXTENSION`.
fn files() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let extension = |path: &Path| path.extension().unwrap().to_str().unwrap().to_owned().leak() as &str;
    paths.iter().map(|p| sample("file", extension(p), std::fs::read(p).unwrap())).collect()
}

/// Every format and encoding.
pub fn samples() -> Vec<Sample> {
    let rows = |first: usize, tail: &str| {
        VERTICES
            .iter()
            .enumerate()
            .map(|(i, v)| format!("{} {}{tail}\n", i + first, join(v, " ")))
            .collect::<String>()
    };
    let medit = format!(
        "MeshVersionFormatted 2\n# a comment\nDimension 3\nVertices\n5\n{}Triangles\n1\n1 3 2 7\nTetrahedra\n2\n1 2 3 4 1\n2 3 4 5 2\nEnd\n",
        VERTICES.map(|v| format!("{} 0\n", join(v, " "))).concat()
    );
    let mut tetgen = sample("tetgen", "node", format!("# nodes\n5 3 0 1\n{}", rows(0, " 4")));
    tetgen.partner = Some(("ele", b"2 4 1\n0 0 1 2 3 1\n1 1 2 3 4 2\n".to_vec()));
    let mut tetgen_mixed = sample("tetgen, .ele from 0", "ele", "2 4 1\n1 0 1 2 3 1\n2 1 2 3 4 2\n# end\n");
    tetgen_mixed.partner = Some(("node", format!("5 3 0 0\n{}", rows(1, "")).into_bytes()));
    let vega = format!(
        "# sample\n*VERTICES\n5 3 0 0\n{}\n*ELEMENTS\nTET\n2 4 0\n1 1 2 3 4\n2 2 3 4 5\n\n*MATERIAL soft\nENU, 1000, 1e6, 0.4\n*MATERIAL hard\nENU, 1000, 1e7, 0.4\n*SET a\n1\n*SET b\n2,\n*REGION\na, soft\n*REGION\nb, hard\n",
        rows(1, "")
    );
    let obj = format!(
        "# surface\no body\n{}vn 0 0 1\nf 1/1/1 3/1/1 2/1/1\nf 1 2 4\nf -5//1 -2//1 -3//1\nf 2 3 5\nf 3 4 \\\n 5\nf 4 2 5\n",
        VERTICES.map(|v| format!("v {}\n", join(v, " "))).concat()
    );
    let mut all = vec![
        sample("gmsh 2.2 text", "msh", gmsh2_text()),
        sample("gmsh 2.2 little", "msh", gmsh2_binary(false)),
        sample("gmsh 2.2 big", "msh", gmsh2_binary(true)),
        sample("gmsh 4.1 text", "msh", gmsh4_text()),
        sample("gmsh 4.1 little", "msh", gmsh4_binary(false)),
        sample("gmsh 4.1 big", "msh", gmsh4_binary(true)),
        sample("medit", "mesh", medit),
        tetgen,
        tetgen_mixed,
        sample("vtk 3.0 text", "vtk", vtk_text("3.0")),
        sample("vtk 3.0 binary", "vtk", vtk_binary("3.0")),
        sample("vtk 5.1 text", "vtk", vtk_text("5.1")),
        sample("vtk 5.1 binary", "vtk", vtk_binary("5.1")),
        sample("vtu text", "vtu", vtu("ascii", false)),
        sample("vtu inline", "vtu", vtu("binary", false)),
        sample("vtu inline big", "vtu", vtu("binary", true)),
        sample("vtu zlib", "vtu", vtu("zlib", false)),
        sample("vtu appended raw", "vtu", vtu("raw", false)),
        sample("vtu appended raw big", "vtu", vtu("raw", true)),
        sample("vtu appended base64", "vtu", vtu("base64", false)),
        sample("vega", "veg", vega),
        sample("obj", "obj", obj),
        sample("stl text", "stl", stl(false)),
        sample("stl binary", "stl", stl(true)),
        sample("ply text", "ply", ply("ascii")),
        sample("ply little", "ply", ply("binary_little_endian")),
        sample("ply big", "ply", ply("binary_big_endian")),
    ];
    all.extend(files());
    for s in &mut all {
        let reader = READERS.iter().find(|r| r.extensions.contains(&s.extension)).unwrap();
        s.tags = reader.content == Content::Solid;
    }
    all
}
