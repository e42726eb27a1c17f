//! Duplicates functions that take textures, samplers or images as arguments, once for each set of variables they are
//! called with. Rewriting passes then find every use of a variable by its own id.

use super::operand::Context;
use super::transform::{Editor, build, context, opcode, rename, result, seal};
use super::{ModuleIndex, class, op};
use crate::{Error, Result};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// Limit on generated functions: nested calls multiply.
const MOST: usize = 4096;

/// Limit on generated words, over all functions.
const MOST_WORDS: usize = 1 << 24;

/// A function that takes variables, and the variables passed to it.
type Call = (u32, Vec<u32>);

/// Rewrites a module so that no function has a parameter that points to a texture, sampler or image. A module without
/// such parameters is returned unchanged.
///
/// # Errors
/// Invalid for a broken module; Unsupported if an argument is not a variable (but an element of an array), or if there
/// are thousands of call combinations.
pub fn specialize(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let handles: HashSet<u32> = module
        .body
        .iter()
        .filter(|words| opcode(words) == op::TYPE_POINTER && words[2] == class::UNIFORM_CONSTANT)
        .map(|words| words[1])
        .collect();
    let start = module.functions_start();
    let functions = functions(module.body.split_off(start));
    let takers: BTreeMap<u32, Taker> = functions
        .iter()
        .filter_map(|body| Some((result(body.iter().find(is_function)?)?, Taker::of(body, &handles)?)))
        .collect();
    if takers.is_empty() {
        return Ok(words.to_vec());
    }
    let variables = index.globals().map(|variable| variable.id).collect();
    let mut work = Specializer {
        context: context(&index),
        module,
        takers,
        variables,
        known: BTreeMap::new(),
        waiting: VecDeque::new(),
        out: Vec::new(),
        room: MOST_WORDS,
        renamed: Vec::new(),
    };
    for body in functions {
        let id = body.iter().find(is_function).and_then(|words| result(words));
        if !id.is_some_and(|id| work.takers.contains_key(&id)) {
            work.emit(body, HashMap::new())?;
        }
    }
    while let Some(((callee, handed), id)) = work.waiting.pop_front() {
        work.instance(callee, &handed, id)?;
    }
    Ok(work.finish())
}

fn is_function(words: &&Vec<u32>) -> bool {
    opcode(words) == op::FUNCTION
}

/// Splits the second half of a module into functions; preceding `OpLine`s belong to the next function.
fn functions(body: Vec<Vec<u32>>) -> Vec<Vec<Vec<u32>>> {
    let mut all = vec![Vec::new()];
    for words in body {
        let ends = opcode(&words) == op::FUNCTION_END;
        all.last_mut().expect("never empty").push(words);
        if ends {
            all.push(Vec::new());
        }
    }
    all.retain(|body| !body.is_empty());
    all
}

/// A function that takes variables.
struct Taker {
    body: Vec<Vec<u32>>,
    /// Its parameters in order: id, type, whether a variable is passed.
    parameters: Vec<(u32, u32, bool)>,
}

impl Taker {
    fn of(body: &[Vec<u32>], handles: &HashSet<u32>) -> Option<Self> {
        let parameters = body.iter().filter(|words| opcode(words) == op::FUNCTION_PARAMETER);
        let parameters: Vec<_> = parameters
            .map(|words| (words[2], words[1], handles.contains(&words[1])))
            .collect();
        parameters.iter().any(|parameter| parameter.2).then(|| Self {
            body: body.to_vec(),
            parameters,
        })
    }
}

struct Specializer {
    context: Context,
    /// The module before the functions.
    module: Editor,
    takers: BTreeMap<u32, Taker>,
    /// Ids of the module's variables.
    variables: HashSet<u32>,
    known: BTreeMap<Call, u32>,
    waiting: VecDeque<(Call, u32)>,
    out: Vec<Vec<u32>>,
    /// Words that may still be written for instances.
    room: usize,
    /// Original ids of functions with their new ids in an instance.
    renamed: Vec<(u32, u32)>,
}

impl Specializer {
    /// Creates a function for a set of variables; its definitions get new ids.
    fn instance(&mut self, callee: u32, handed: &[u32], id: u32) -> Result<()> {
        let taker = &self.takers[&callee];
        let size: usize = taker.body.iter().map(Vec::len).sum();
        self.room = self.room.checked_sub(size).ok_or_else(|| {
            let message = "functions with texture parameters are called in too many ways";
            Error::unsupported("spirv", message)
        })?;
        let mut ids = HashMap::from([(callee, id)]);
        let mut given = handed.iter();
        for (parameter, _, _) in taker.parameters.iter().filter(|parameter| parameter.2) {
            ids.insert(*parameter, *given.next().expect("one for each"));
        }
        let kept: Vec<u32> = taker.parameters.iter().filter(|p| !p.2).map(|p| p.1).collect();
        let mut body = taker.body.clone();
        body.retain(|words| opcode(words) != op::FUNCTION_PARAMETER || !ids.contains_key(&words[2]));
        for defined in body.iter().filter_map(|words| result(words)) {
            if let std::collections::hash_map::Entry::Vacant(free) = ids.entry(defined) {
                let fresh = self.module.fresh();
                free.insert(fresh);
                self.renamed.push((defined, fresh));
            }
        }
        self.renamed.push((callee, id));
        if let Some(function) = body.iter_mut().find(|words| opcode(words) == op::FUNCTION) {
            function[4] = function_type(&mut self.module, function[1], &kept);
        }
        self.emit(body, ids)
    }

    /// Writes a function with renamed ids and redirected calls.
    fn emit(&mut self, body: Vec<Vec<u32>>, ids: HashMap<u32, u32>) -> Result<()> {
        for mut words in body {
            rename(&mut words, &ids, &self.context);
            if opcode(&words) == op::FUNCTION_CALL {
                words = self.call(words)?;
            }
            self.out.push(words);
        }
        Ok(())
    }

    /// A call with its variable arguments removed.
    fn call(&mut self, words: Vec<u32>) -> Result<Vec<u32>> {
        let callee = words[3];
        let Some(taker) = self.takers.get(&callee) else {
            return Ok(words);
        };
        let (mut kept, mut handed) = (Vec::new(), Vec::new());
        for (argument, parameter) in words[4..].iter().zip(&taker.parameters) {
            match parameter.2 {
                true if !self.variables.contains(argument) => {
                    return Err(Error::unsupported(
                        "spirv",
                        format!("a call of %{callee} hands over %{argument}, which is not a variable"),
                    ));
                }
                true => handed.push(*argument),
                false => kept.push(*argument),
            }
        }
        let wanted = taker.parameters.iter().filter(|parameter| parameter.2).count();
        if handed.len() != wanted {
            let message = format!("a call of %{callee} has too few arguments");
            return Err(Error::unsupported("spirv", message));
        }
        let call = (callee, handed);
        let id = match self.known.get(&call) {
            Some(id) => *id,
            None if self.known.len() == MOST => {
                let message = format!("more than {MOST} combinations of textures in calls");
                return Err(Error::unsupported("spirv", message));
            }
            None => {
                let id = self.module.fresh();
                self.known.insert(call.clone(), id);
                self.waiting.push_back((call, id));
                id
            }
        };
        let mut changed = words[..3].to_vec();
        changed.push(id);
        changed.extend(kept);
        Ok(seal(changed))
    }

    /// The final module: names and decorations of ids in functions are copied to each instance.
    fn finish(mut self) -> Vec<u32> {
        let mut instances: HashMap<u32, Vec<u32>> = HashMap::new();
        for (from, to) in self.renamed {
            instances.entry(from).or_default().push(to);
        }
        let gone: HashSet<u32> = self
            .takers
            .values()
            .flat_map(|taker| taker.body.iter().filter_map(|w| result(w)))
            .collect();
        let mut body = Vec::new();
        for words in std::mem::take(&mut self.module.body) {
            let about = matches!(opcode(&words), op::NAME | op::DECORATE) && gone.contains(&words[1]);
            if !about {
                body.push(words);
                continue;
            }
            for to in instances.get(&words[1]).into_iter().flatten() {
                let mut copy = words.clone();
                copy[1] = *to;
                body.push(copy);
            }
        }
        body.append(&mut self.out);
        self.module.body = body;
        self.module.words()
    }
}

/// The type of a function, made where it is missing.
fn function_type(module: &mut Editor, returned: u32, parameters: &[u32]) -> u32 {
    let rest = [&[returned], parameters].concat();
    let is = |words: &&Vec<u32>| opcode(words) == op::TYPE_FUNCTION && words[2..] == rest;
    if let Some(found) = module.body.iter().find(is) {
        return found[1];
    }
    let id = module.fresh();
    module
        .body
        .push(build(op::TYPE_FUNCTION, &[&[id], rest.as_slice()].concat()));
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::Grammar;
    use crate::spirv::asm::assemble;

    const HEAD: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %out %a %b\n\
        OpExecutionMode %main OriginUpperLeft\nOpName %look \"look\"\nOpDecorate %a DescriptorSet 0\nOpDecorate %a Binding 0\n\
        OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 1\nOpDecorate %out Location 0\nOpDecorate %seen RelaxedPrecision\n\
        %void = OpTypeVoid\n%f = OpTypeFunction %void\n%float = OpTypeFloat 32\n%v2 = OpTypeVector %float 2\n\
        %v4 = OpTypeVector %float 4\n%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n%sampled = OpTypeSampledImage %image\n\
        %handle = OpTypePointer UniformConstant %sampled\n%pout = OpTypePointer Output %v4\n\
        %fl = OpTypeFunction %v4 %handle %v2\n%zero = OpConstantNull %v2\n%a = OpVariable %handle UniformConstant\n\
        %b = OpVariable %handle UniformConstant\n%out = OpVariable %pout Output\n";
    const LOOK: &str = "%look = OpFunction %v4 None %fl\n%t = OpFunctionParameter %handle\n%p = OpFunctionParameter %v2\n\
        %l1 = OpLabel\n%loaded = OpLoad %sampled %t\n%seen = OpImageSampleImplicitLod %v4 %loaded %p\n\
        OpReturnValue %seen\nOpFunctionEnd\n";

    fn module(functions: &str) -> Vec<u32> {
        assemble(Grammar::builtin(), &format!("{HEAD}{functions}"), Default::default()).unwrap()
    }

    fn opcodes(words: &[u32], wanted: u16) -> usize {
        crate::spirv::instructions(words)
            .flatten()
            .filter(|i| i.opcode == wanted)
            .count()
    }

    #[test]
    fn each_texture_gets_one_function() {
        let main = "%main = OpFunction %void None %f\n%l0 = OpLabel\n%x = OpFunctionCall %v4 %look %a %zero\n\
            %y = OpFunctionCall %v4 %look %b %zero\n%z = OpFunctionCall %v4 %look %a %zero\n\
            %xy = OpFAdd %v4 %x %y\n%xyz = OpFAdd %v4 %xy %z\nOpStore %out %xyz\nOpReturn\nOpFunctionEnd\n";
        let out = specialize(&module(&format!("{main}{LOOK}"))).unwrap();
        assert_eq!(opcodes(&out, op::FUNCTION), 3);
        assert_eq!(opcodes(&out, op::FUNCTION_PARAMETER), 2, "each takes the place alone");
        assert_eq!(opcodes(&out, op::NAME), 2, "both instances have the name");
        let report = crate::spirv::validate(&out);
        assert!(
            report.diagnostics.iter().all(|d| d.severity != crate::Severity::Error),
            "{report:?}"
        );
        // A second pass changes nothing, because no variable is passed any more.
        assert_eq!(specialize(&out).unwrap(), out);
    }

    #[test]
    fn arguments_that_are_not_variables_are_rejected() {
        let main = "%main = OpFunction %void None %f\n%l0 = OpLabel\n%same = OpCopyObject %handle %a\n\
            %x = OpFunctionCall %v4 %look %same %zero\nOpStore %out %x\nOpReturn\nOpFunctionEnd\n";
        let error = specialize(&module(&format!("{main}{LOOK}"))).unwrap_err();
        assert!(error.to_string().contains("not a variable"), "{error}");
    }

    #[test]
    fn a_module_without_texture_parameters_is_unchanged() {
        let main = "%main = OpFunction %void None %f\n%l0 = OpLabel\nOpReturn\nOpFunctionEnd\n";
        let words = module(main);
        assert_eq!(specialize(&words).unwrap(), words);
    }
}
