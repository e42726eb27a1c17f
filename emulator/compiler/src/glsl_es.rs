//! GLSL ES 1.00 (and 3.00, and desktop GLSL of that age) for a front end that knows modern GLSL only: the preprocessor
//! runs first, then the tokens are rewritten. Attributes, varyings, uniforms and built-in variables become plain global
//! variables, whose roles are returned beside the text. [`translate`] parses that.

mod block;
mod declaration;
mod rewriter;
mod tables;
mod uplifted;
pub mod vulkan;

use crate::error::{Error, Result};
use crate::interface::Stage;
use pp_rs::pp::Preprocessor;
use pp_rs::token::TokenValue;
use rewriter::Rewriter;
use std::path::Path;
use translate::frontend::{self, Preprocessed, Settings};
pub use uplifted::{Declared, Role, Uplifted};

/// Whether a text is of the old languages: no version, or one of theirs.
pub fn recognises(text: &str) -> bool {
    let version = text.lines().map(str::trim_start).find_map(|line| {
        let rest = line.strip_prefix('#')?.trim_start().strip_prefix("version")?;
        rest.split_whitespace().next()?.parse::<u32>().ok()
    });
    version.is_none_or(|version| version < 400 && version != 0)
}

/// Whether a source is a text of the old languages.
pub fn is_old(source: &translate::Source<'_>) -> bool {
    source.language == translate::Language::Glsl && std::str::from_utf8(source.bytes).is_ok_and(recognises)
}

/// A text with what it is compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The text.
    pub text: &'a str,
    /// Where it is from: files are included from beside it.
    pub path: &'a Path,
    /// Names and folders.
    pub settings: &'a Settings,
}

impl<'a> Text<'a> {
    /// A text that includes nothing.
    pub fn new(text: &'a str) -> Self {
        let (path, settings) = (Path::new(""), Settings::NONE);
        Self { text, path, settings }
    }

    /// The text of a source, with what is said of that.
    pub fn of(text: &'a str, source: &translate::Source<'a>) -> Self {
        let (path, settings) = (source.path, source.settings);
        Self { text, path, settings }
    }

    /// The same for the reference front end.
    pub fn judged(&self, stage: Stage) -> frontend::Text<'a> {
        let stage = match stage {
            Stage::Vertex => frontend::Stage::Vertex,
            Stage::Fragment => frontend::Stage::Fragment,
        };
        frontend::Text::new(self.text, self.path, frontend::Dialect::Glsl, stage, self.settings)
    }
}

/// The text without directives, and where its parts come from; what the language forbids is refused. Where the reference
/// front end is not there, the text as it is.
fn preprocessed(text: &Text<'_>, stage: Stage) -> Result<Option<Preprocessed>> {
    if !frontend::is_available() {
        if *text.settings != *Settings::NONE {
            return Err(Error::unsupported(
                "names and folders: this program was built without glslang",
            ));
        }
        return Ok(None);
    }
    let judged = text.judged(stage);
    let refused = |error| crate::foreign(error, Some(text.text));
    frontend::judge(&[judged]).map_err(refused)?;
    frontend::preprocess(&judged).map(Some).map_err(refused)
}

/// A preprocessed text with spaces for the directives that are left in it, but for the version.
fn without_directives(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        match directive.is_some_and(|directive| !directive.starts_with("version")) {
            true => line.replace(|c: char| c != '\n', " "),
            false => line.to_owned(),
        }
    });
    lines.collect()
}

/// Rewrites a text.
///
/// # Errors
/// What the language forbids, and what has no place here (several colours).
pub fn uplift(text: &Text<'_>, stage: Stage) -> Result<Uplifted> {
    uplift_any(text, stage, false)
}

/// As [`uplift`], for pictures whose rows go down: derivatives along y change their sign.
pub(crate) fn uplift_for_vulkan(text: &Text<'_>, stage: Stage) -> Result<Uplifted> {
    uplift_any(text, stage, true)
}

fn uplift_any(text: &Text<'_>, stage: Stage, rows_down: bool) -> Result<Uplifted> {
    let Some(ready) = preprocessed(text, stage)? else {
        return uplift_tokens(text.text, stage, rows_down);
    };
    let mut uplifted = uplift_tokens(&without_directives(&ready.text), stage, rows_down)
        .map_err(|error| error.map_span(|span| ready.place(span)))?;
    let places = uplifted.places.iter_mut().map(|(_, place)| place);
    for place in places.chain(&mut uplifted.highp) {
        *place = ready.place(place.clone());
    }
    Ok(uplifted)
}

fn uplift_tokens(text: &str, stage: Stage, rows_down: bool) -> Result<Uplifted> {
    let mut preprocessor = Preprocessor::new(text);
    for (name, value) in [
        ("GL_ES", "1"),
        ("GL_OES_standard_derivatives", "1"),
        ("GL_EXT_shader_texture_lod", "1"),
    ] {
        // Names the preprocessor has already stay as they are.
        let _ = preprocessor.add_define(name, value);
    }
    let mut tokens = Vec::new();
    let mut modern = false;
    for token in preprocessor {
        let token = token.map_err(|(error, location)| {
            Error::invalid(format!("the preprocessor says {error:?}"))
                .at(Some(location.start as usize..location.end as usize))
        })?;
        match &token.value {
            TokenValue::Version(version) => {
                modern = version
                    .tokens
                    .iter()
                    .any(|token| matches!(&token.value, TokenValue::Integer(number) if number.value >= 130));
            }
            TokenValue::Extension(_) | TokenValue::Pragma(_) => {}
            _ => tokens.push(token),
        }
        if tokens.len() > 200_000 {
            return Err(Error::limit("a text of more than 200,000 tokens"));
        }
    }
    let mut rewriter = Rewriter::new(tokens, stage, modern, rows_down);
    rewriter.run()?;
    Ok(rewriter.finish())
}

#[cfg(test)]
mod tests {
    use super::tables::{CONSTANTS, FUNCTIONS, LOOKUPS, RESERVED, is_kept};
    use super::*;
    use crate::ErrorKind;

    /// A text's tokens when it is rewritten, without the version.
    fn tokens(text: &str, stage: Stage) -> String {
        let uplifted = uplift_tokens(text, stage, false).unwrap_or_else(|error| panic!("{}", error.render("s", text)));
        let lines: Vec<&str> = uplifted.text.lines().skip(1).collect();
        lines.join(" ")
    }

    const PUNCTUATION: [&str; 44] = [
        "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=", "++", "--", "&&", "||", "^^", "<=", ">=", "==",
        "!=", "<<", ">>", "{", "}", "(", ")", "[", "]", "<", ">", ";", ",", ":", ".", "=", "!", "-", "~", "+", "*",
        "/", "%", "|", "^", "&",
    ];

    #[test]
    fn tokens_are_written_as_they_are_read() {
        for punctuation in PUNCTUATION.into_iter().chain(["?"]) {
            let text = format!("a {punctuation} b");
            assert_eq!(tokens(&text, Stage::Fragment), text);
        }
        for (number, written) in [
            ("1", "1"),
            ("0", "0"),
            ("0x1F", "31"),
            ("017", "15"),
            ("3u", "3u"),
            ("1.5", "1.5"),
            (".5", "0.5"),
            ("2.", "2.0"),
            ("1e3", "1000.0"),
            ("25e-2", "0.25"),
            ("true", "true"),
        ] {
            assert_eq!(
                tokens(&format!("a = {number} ;"), Stage::Fragment),
                format!("a = {written} ;")
            );
        }
    }

    /// Each kind of declaration and of word: what it becomes, with the version of the language in front if it has one.
    #[test]
    fn words_become_those_of_the_modern_language() {
        use Stage::{Fragment, Vertex};
        let rows: &[(&str, Stage, &str)] = &[
            ("precision mediump float; a", Fragment, "a"),
            ("precision highp float", Fragment, ""),
            ("lowp vec2 a; highp vec3 b;", Vertex, "vec2 a ; vec3 b ;"),
            (
                "float f(const in float x, in float y)",
                Vertex,
                "float f ( float x , in float y )",
            ),
            ("const float x = 1.0;", Vertex, "const float x = 1.0 ;"),
            ("invariant gl_Position; a", Vertex, "a"),
            ("invariant varying vec4 v;", Fragment, "vec4 v ;"),
            (
                "#version 300 es\nsmooth in vec4 v; centroid out vec2 w;",
                Vertex,
                "vec4 v ; vec2 w ;",
            ),
            ("#version 300 es\nflat in int n;", Vertex, "int n ;"),
            (
                "#version 300 es\nlayout(location = 0) out vec4 c;",
                Fragment,
                "vec4 c ;",
            ),
            (
                "#version 300 es\nvoid f(in float x, out float y) { }",
                Vertex,
                "void f ( in float x , out float y ) { }",
            ),
            (
                "#version 300 es\nin vec4 a; void f() { } in vec4 b;",
                Vertex,
                "vec4 a ; void f ( ) { } vec4 b ;",
            ),
            (
                "attribute vec4 a, b; attribute mat2 c;",
                Vertex,
                "vec4 a ; vec4 b ; mat2 c ;",
            ),
            ("varying highp vec2 v[2], w;", Vertex, "vec2 v [ 2 ] ; vec2 w ;"),
            ("uniform float k[2 + 1];", Vertex, "float k [ 2 + 1 ] ;"),
            (
                "uniform struct S { lowp float x; } s, t;",
                Vertex,
                "struct S { float x ; } ; S s ; S t ;",
            ),
            (
                "uniform struct { float x; } s;",
                Vertex,
                "struct es_structure1_u { float x ; } ; es_structure1_u s ;",
            ),
            (
                "uniform struct { float x; } s; uniform struct { int y; } t;",
                Vertex,
                "struct es_structure1_u { float x ; } ; es_structure1_u s ; struct es_structure2_u { int y ; } ; es_structure2_u t ;",
            ),
            (
                "#version 330\nuniform B { vec4 x; mat2 y; }; float z;",
                Vertex,
                "vec4 x ; mat2 y ; float z ;",
            ),
            (
                "#version 330\nuniform B { vec4 x; } b; float z;",
                Vertex,
                "struct B { vec4 x ; } ; B b ; float z ;",
            ),
            (
                "uniform sampler2D s, t;",
                Fragment,
                "layout(set=0,binding=0) uniform sampler2D s ; layout(set=0,binding=1) uniform sampler2D t ;",
            ),
            (
                "uniform samplerCube s; uniform samplerExternalOES t;",
                Fragment,
                "layout(set=0,binding=0) uniform samplerCube s ; layout(set=0,binding=1) uniform sampler2D t ;",
            ),
            (
                "vec4 f(sampler2D s) { return texture2D(s, v); }",
                Fragment,
                "vec4 f ( sampler2D s ) { return texture ( s , v ) ; }",
            ),
            (
                "float uniform_x; void f() { varying_y; }",
                Fragment,
                "float uniform_x ; void f ( ) { varying_y ; }",
            ),
            ("void f() { uniform ; }", Fragment, "void f ( ) { uniform ; }"),
            ("es_x a__b _x", Fragment, "es_x_u a_D_b_u _x"),
            (
                "gl_DepthRange.near gl_DepthRange.far gl_DepthRange.diff",
                Fragment,
                "0.0 1.0 1.0",
            ),
            (
                "gl_Position = a; gl_PointSize = 1.0;",
                Vertex,
                "vec4 es_Position; float es_PointSize; es_Position = a ; es_PointSize = 1.0 ;",
            ),
            (
                "gl_FragColor = a; gl_FragColor.x = 1.0;",
                Fragment,
                "vec4 es_FragColor; es_FragColor = a ; es_FragColor . x = 1.0 ;",
            ),
            ("gl_FragData[0] = a;", Fragment, "vec4 es_FragColor; es_FragColor = a ;"),
            (
                "gl_FragCoord gl_PointCoord gl_FrontFacing",
                Fragment,
                "vec4 es_FragCoord; vec2 es_PointCoord; bool es_FrontFacing; es_FragCoord es_PointCoord es_FrontFacing",
            ),
            ("dFdy(x)", Fragment, "dFdy ( x )"),
            (
                "float x = texture; float texture2D;",
                Fragment,
                "float x = texture_u ; float texture2D_u ;",
            ),
            (
                "#version 330\nfloat x = texture(s, y);",
                Fragment,
                "float x = texture ( s , y ) ;",
            ),
        ];
        for (text, stage, written) in rows {
            let have = tokens(text, *stage);
            assert_eq!(have.replace('\n', " "), written.replace('\n', " "), "{text}");
        }
        let down = uplift_tokens("dFdy(x) dFdx(x)", Fragment, true).expect("a text");
        assert!(
            down.text.contains("- dFdy\n") && down.text.contains("\ndFdx\n"),
            "{}",
            down.text
        );
    }

    #[test]
    fn names_of_tables_are_replaced() {
        for (old, new) in CONSTANTS {
            assert_eq!(tokens(&format!("x = {old} ;"), Stage::Fragment), format!("x = {new} ;"));
        }
        for (old, new) in LOOKUPS
            .iter()
            .filter(|(old, _)| !old.starts_with("textureP") && !old.starts_with("textureL"))
        {
            assert_eq!(
                tokens(&format!("x = {old} ( s , y ) ;"), Stage::Fragment),
                format!("x = {new} ( s , y ) ;")
            );
        }
        for (old, new, front) in FUNCTIONS {
            // Called, its text is in front; declared or not called, it is the source's own.
            let called = uplift_tokens(&format!("x = {old}(y);"), Stage::Fragment, false)
                .expect(old)
                .text;
            assert!(
                called.contains(front) && called.contains(&format!("=\n{new}\n(\ny")),
                "{called}"
            );
            for other in [
                format!("float {old} ( float y ) ; x = {old} ( y ) ;"),
                format!("x = {old} ;"),
            ] {
                assert_eq!(tokens(&other, Stage::Fragment), other);
            }
            let returned = tokens(&format!("if (x) return {old} (y); else {old} (z);"), Stage::Fragment);
            assert_eq!(returned.matches(&format!("{new} (")).count(), 2, "{returned}");
        }
    }

    /// Words that only the modern language has are names in the old one, wherever they stand.
    #[test]
    fn reserved_words_are_names() {
        for word in RESERVED.iter().filter(|word| !is_kept(word)) {
            for text in [
                format!("float {word} ; x = {word} ;"),
                format!("{word} = 1.0 ; float {word} ;"),
                format!("float {word} ( float x ) ; y = {word} ( z ) ;"),
                format!("void f ( float {word} ) {{ {word} = 1.0 ; }}"),
                format!("struct {word} {{ float x ; }} ; {word} y ;"),
                format!("struct S {{ float {word} ; }} ; S y ; y . {word} = 1.0 ;"),
                format!("attribute float {word} ; x = {word} ;"),
            ] {
                let written = text
                    .replace(&format!("{word} "), &format!("{word}_u "))
                    .replace("attribute ", "");
                assert_eq!(tokens(&text, Stage::Vertex), written);
            }
        }
        // Languages that have them declare no such names; what is declared is one.
        for (text, written) in [
            ("uint x = uint ( y ) ;", "uint x = uint ( y ) ;"),
            (
                "switch ( x ) { case 1 : default : }",
                "switch ( x ) { case 1 : default : }",
            ),
            ("return round ( x ) ;", "return round ( x ) ;"),
            ("float sample ; sample = 1.0 ;", "float sample_u ; sample_u = 1.0 ;"),
            ("trunc ( x ) ;", "trunc ( x ) ;"),
            ("const uint x = 1u ;", "const uint x = 1u ;"),
            ("uniform uint x ; uniform highp uvec2 y ;", "uint x ; uvec2 y ;"),
            ("mediump uint x = 1u ;", "uint x = 1u ;"),
            ("flat out uvec4 x ;", "uvec4 x ;"),
            ("uniform mat2x3 m ;", "mat2x3 m ;"),
            ("uniform float sample ; x = sample ;", "float sample_u ; x = sample_u ;"),
            (
                "void f ( inout uint x , in uint y , out uint z ) ;",
                "void f ( inout uint x , in uint y , out uint z ) ;",
            ),
        ] {
            assert_eq!(tokens(&format!("#version 300 es\n{text}"), Stage::Vertex), written);
        }
    }

    /// What is written of a text has the places of the text, token by token.
    #[test]
    fn what_is_written_has_places() {
        let text =
            "precision highp float;\nattribute vec4 a , b ;\nuniform vec2 k [ 3 ] ;\nstruct S { float sample ; } ;
            float f ( float x ) { return x * 2.0 + k [ 1 ] . y ; }\nvoid main ( ) { S s ; s . sample = f ( a . x ) ;
            if ( s . sample > 1.0 && b . y != 0.0 ) { gl_Position = a ; } else gl_Position = b - vec4 ( 0.5 ) ; }";
        let uplifted = uplift_tokens(text, Stage::Vertex, false).expect("a text");
        let (mut at, mut own, mut last) = (0, 0, 0);
        for line in uplifted.text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let word = line.trim_end();
            let place = uplifted.place(start..start + word.len());
            let there = &text[place.clone()];
            let same = [there.to_owned(), format!("{there}_u"), there.replace("gl_", "es_")].contains(&word.to_owned());
            if start < uplifted.places[0].0 || word == ";" && there != ";" {
                continue;
            }
            // The length of an array has the place of its name.
            assert!(same || there == "k", "{word} is {there} at {place:?}");
            own += 1;
            last = last.max(place.end);
        }
        assert_eq!((own, last), (89, text.len()), "{}", uplifted.text);
        // Several tokens are from the first to the last.
        let assigned = uplifted.text.find("es_Position\n=\na").expect("an assignment");
        let place = uplifted.place(assigned..assigned + "es_Position\n=\na".len());
        assert_eq!(&text[place], "gl_Position = a");
        assert_eq!(
            uplifted.roles["k"].place,
            text.find("k [").map(|at| at..at + 1).expect("k")
        );
        // Of vertices highp says nothing.
        assert!(uplifted.highp.is_empty());
        let asked = "precision highp float; uniform highp vec2 a; lowp vec2 b; mediump vec2 c; highp vec2 d;";
        let asked_places = uplift_tokens(asked, Stage::Fragment, false).expect("a text").highp;
        let wanted: Vec<_> = asked
            .match_indices("highp")
            .map(|(at, word)| at..at + word.len())
            .collect();
        assert_eq!(asked_places, wanted);
    }

    /// What is missing, and what there is nothing for: kind, words, and the place between the marks.
    #[test]
    fn errors_have_places() {
        use ErrorKind::{Invalid, Unsupported};
        for (marked, stage, kind, says) in [
            ("uniform «;» a", Stage::Fragment, Invalid, "`uniform` without a type"),
            ("varying vec4 «;»", Stage::Fragment, Invalid, "`varying` without a name"),
            (
                "attribute vec4 a «b» ;",
                Stage::Vertex,
                Invalid,
                "`;` is missing behind a",
            ),
            (
                "attribute vec4 a , «;» b",
                Stage::Vertex,
                Invalid,
                "`attribute` without a name",
            ),
            (
                "x = «gl_FragData» [ 1 ] ;",
                Stage::Fragment,
                Unsupported,
                "several colour outputs",
            ),
            (
                "x = «gl_FragData» [ y ] ;",
                Stage::Fragment,
                Unsupported,
                "several colour outputs",
            ),
            (
                "x = «gl_FragData» ;",
                Stage::Fragment,
                Unsupported,
                "several colour outputs",
            ),
            (
                "x = «gl_Vertex» ;",
                Stage::Vertex,
                Unsupported,
                "the built-in gl_Vertex",
            ),
            (
                "x = «gl_FragCoord» ;",
                Stage::Vertex,
                Unsupported,
                "the built-in gl_FragCoord",
            ),
            (
                "x = «gl_Position» ;",
                Stage::Fragment,
                Unsupported,
                "the built-in gl_Position",
            ),
            (
                "uniform sampler2D «s» [ 33 ] ;",
                Stage::Fragment,
                Unsupported,
                "s: an array of 33 samplers",
            ),
            (
                "uniform sampler2D «s» [ 0 ] ;",
                Stage::Fragment,
                Unsupported,
                "s: an array of 0 samplers",
            ),
            (
                "uniform sampler2D «s» [ n + 1 ] ;",
                Stage::Fragment,
                Unsupported,
                "whose length is no plain number",
            ),
            (
                "uniform sampler2D s [ 2 ] ; x = f ( «s» [ n ] ) ;",
                Stage::Fragment,
                Unsupported,
                "chosen while running",
            ),
            (
                "uniform sampler2D s [ 2 ] ; x = f ( «s» [ 2 ] ) ;",
                Stage::Fragment,
                Unsupported,
                "chosen while running",
            ),
            (
                "uniform sampler2D s [ 2 ] ; x = f ( «s» ) ;",
                Stage::Fragment,
                Unsupported,
                "chosen while running",
            ),
            (
                "uniform sampler2D s [ 2 ] ; x = texture2D ( s «,» y ) ;",
                Stage::Fragment,
                Unsupported,
                "an array of samplers as a whole",
            ),
        ] {
            let (start, end) = (
                marked.find('«').expect("a mark"),
                marked.find('»').expect("a mark") - '«'.len_utf8(),
            );
            let text = marked.replace(['«', '»'], "");
            let error = uplift_tokens(&text, stage, false).expect_err(&text);
            assert_eq!(
                (error.kind(), error.span()),
                (kind, Some(start..end)),
                "{text}: {error}"
            );
            assert!(error.message().contains(says), "{text}: {error}");
        }
    }

    /// Elements of arrays of samplers are samplers of their own, which look-ups choose among.
    #[test]
    fn arrays_of_samplers_are_samplers() {
        for (length, count) in [("1", 1), ("2", 2), ("3", 3), ("32", 32), ("n", 4)] {
            for (ty, cube) in [("sampler2D", false), ("samplerCube", true)] {
                let text = format!("const int n = 4 ; uniform {ty} s [ {length} ] ;");
                let uplifted = uplift_tokens(&text, Stage::Fragment, false).expect(&text);
                let mut names: Vec<(usize, &Role)> = uplifted
                    .roles
                    .values()
                    .map(|declared| (declared.number, &declared.role))
                    .collect();
                names.sort_by_key(|(number, _)| *number);
                let wanted: Vec<Role> = (0..count).map(|at| Role::Sampler(format!("s[{at}]"))).collect();
                assert!(names.iter().map(|(_, role)| *role).eq(&wanted), "{names:?}");
                let functions: Vec<&str> = uplifted
                    .text
                    .lines()
                    .filter(|line| line.starts_with("vec4 es_s_"))
                    .collect();
                assert_eq!(functions.len(), if cube { 3 } else { 7 });
                for function in functions {
                    assert_eq!(function.matches("return ").count(), count, "{function}");
                    assert_eq!(function.matches("if (element <= ").count(), count - 1, "{function}");
                    for at in 0..count {
                        assert!(function.contains(&format!("(s_e{at}, at")), "{function}");
                    }
                }
            }
        }
        for (text, written) in [
            (
                "x = texture2D ( s [ i + k [ 1 ] ] , y ) ;",
                "x = es_s_texture ( int ( i + k [ 1 ] ) , y ) ;",
            ),
            (
                "x = texture2DProj ( s [ 1 ] , y , 2.0 ) ;",
                "x = es_s_textureProj ( int ( 1 ) , y , 2.0 ) ;",
            ),
            ("x = f ( s [ 1 ] , s [ 0 ] ) ;", "x = f ( s_e1 , s_e0 ) ;"),
        ] {
            let all = tokens(&format!("uniform sampler2D s[2]; {text}"), Stage::Fragment);
            assert!(all.ends_with(written), "{all}");
        }
    }

    #[test]
    fn long_texts_are_refused() {
        let text = |tokens: usize| uplift_tokens(&"; ".repeat(tokens), Stage::Fragment, false);
        assert!(text(200_000).is_ok());
        let error = text(200_001).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }

    #[test]
    fn old_languages_are_recognised_by_their_version() {
        for (text, is_old) in [
            ("void main() { }", true),
            ("#version 100\n", true),
            ("  #  version 300 es\n", true),
            ("// text\n#version 120\n", true),
            ("#version 330 core\n", true),
            ("#version 399\n", true),
            ("#version 400\n", false),
            ("#version 450\n", false),
            ("#version 0\n", false),
            ("#version x\n", true),
            ("#define version 450\n", true),
        ] {
            assert_eq!(recognises(text), is_old, "{text}");
        }
        // Directives but the version become spaces, so that places stay.
        let text = "#version 100\n #extension GL_x : enable\n#\tpragma y\na # b\n";
        let spaces = format!("#version 100\n{}\n{}\na # b\n", " ".repeat(24 + 1), " ".repeat(10));
        assert_eq!(without_directives(text), spaces);
    }
}
