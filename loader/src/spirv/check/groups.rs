//! Operations among the invocations of a group: the types of results and operands.

use super::form::{Base, Why, when};
use super::{Checked, Item, scopes};
use crate::spirv::op;

/// What a type has to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A boolean.
    Bool,
    /// An unsigned integer.
    Unsigned,
    /// Four unsigned integers: a bit per invocation.
    Ballot,
    /// Four integers.
    Partition,
    /// Scalars or vectors of booleans, integers, unsigned integers, floats, or any of them.
    Bools,
    Ints,
    Naturals,
    Floats,
    Any,
    /// The type of the result.
    Result,
    /// The type of the result but for the sign, as SPIRV-Tools of 2023 accepts and SPIRV-Cross reads; doubtful.
    Near,
    /// An unsigned integer, which before version 1.5 is a constant.
    Lane,
}

use Kind::{Any, Ballot, Bool, Bools, Floats, Ints, Lane, Naturals, Near, Result, Unsigned};

/// An opcode with the kinds of its result and of its operands after the scope and the group operation.
type Row = (u16, Kind, &'static [Kind]);

const ROWS: &[Row] = &[
    (op::GROUP_NON_UNIFORM_ELECT, Bool, &[]),
    (op::GROUP_NON_UNIFORM_ALL, Bool, &[Bool]),
    (op::GROUP_NON_UNIFORM_ANY, Bool, &[Bool]),
    (op::GROUP_NON_UNIFORM_ALL_EQUAL, Bool, &[Any]),
    (op::GROUP_NON_UNIFORM_BROADCAST, Any, &[Result, Lane]),
    (op::GROUP_NON_UNIFORM_BROADCAST_FIRST, Any, &[Result]),
    (op::GROUP_NON_UNIFORM_BALLOT, Ballot, &[Bool]),
    (op::GROUP_NON_UNIFORM_INVERSE_BALLOT, Bool, &[Ballot]),
    (op::GROUP_NON_UNIFORM_BALLOT_BIT_EXTRACT, Bool, &[Ballot, Unsigned]),
    (op::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT, Unsigned, &[Ballot]),
    (op::GROUP_NON_UNIFORM_BALLOT_FIND_LSB, Unsigned, &[Ballot]),
    (op::GROUP_NON_UNIFORM_BALLOT_FIND_MSB, Unsigned, &[Ballot]),
    (op::GROUP_NON_UNIFORM_SHUFFLE, Any, &[Result, Unsigned]),
    (op::GROUP_NON_UNIFORM_SHUFFLE_XOR, Any, &[Result, Unsigned]),
    (op::GROUP_NON_UNIFORM_SHUFFLE_UP, Any, &[Result, Unsigned]),
    (op::GROUP_NON_UNIFORM_SHUFFLE_DOWN, Any, &[Result, Unsigned]),
    (op::GROUP_NON_UNIFORM_I_ADD, Ints, &[Result]),
    (op::GROUP_NON_UNIFORM_F_ADD, Floats, &[Result]),
    (op::GROUP_NON_UNIFORM_I_MUL, Ints, &[Result]),
    (op::GROUP_NON_UNIFORM_F_MUL, Floats, &[Result]),
    (op::GROUP_NON_UNIFORM_S_MIN, Ints, &[Near]),
    (op::GROUP_NON_UNIFORM_U_MIN, Naturals, &[Near]),
    (op::GROUP_NON_UNIFORM_F_MIN, Floats, &[Result]),
    (op::GROUP_NON_UNIFORM_S_MAX, Ints, &[Near]),
    (op::GROUP_NON_UNIFORM_U_MAX, Naturals, &[Near]),
    (op::GROUP_NON_UNIFORM_F_MAX, Floats, &[Result]),
    (op::GROUP_NON_UNIFORM_BITWISE_AND, Ints, &[Result]),
    (op::GROUP_NON_UNIFORM_BITWISE_OR, Ints, &[Result]),
    (op::GROUP_NON_UNIFORM_BITWISE_XOR, Ints, &[Result]),
    (op::GROUP_NON_UNIFORM_LOGICAL_AND, Bools, &[Result]),
    (op::GROUP_NON_UNIFORM_LOGICAL_OR, Bools, &[Result]),
    (op::GROUP_NON_UNIFORM_LOGICAL_XOR, Bools, &[Result]),
    (op::GROUP_NON_UNIFORM_QUAD_BROADCAST, Any, &[Result, Lane]),
    (op::GROUP_NON_UNIFORM_QUAD_SWAP, Any, &[Result, Lane]),
    (op::GROUP_NON_UNIFORM_ROTATE_KHR, Any, &[Result, Unsigned]),
    (op::GROUP_NON_UNIFORM_QUAD_ALL_KHR, Bool, &[Bool]),
    (op::GROUP_NON_UNIFORM_QUAD_ANY_KHR, Bool, &[Bool]),
    (op::GROUP_NON_UNIFORM_PARTITION_NV, Ballot, &[Any]),
];

/// `ClusteredReduce`.
const CLUSTERED: u32 = 3;
/// `PartitionedReduceNV`, `PartitionedInclusiveScanNV` and `PartitionedExclusiveScanNV`.
const PARTITIONED: std::ops::RangeInclusive<u32> = 6..=8;

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Self::Bool => "a boolean",
            Self::Unsigned | Self::Lane => "an unsigned integer",
            Self::Ballot => "four unsigned integers",
            Self::Partition => "four integers",
            Self::Bools => "a boolean or a vector of booleans",
            Self::Ints => "an integer or a vector of integers",
            Self::Naturals => "an unsigned integer or a vector of them",
            Self::Floats => "a float or a vector of floats",
            Self::Any => "a number, a boolean or a vector of these",
            Self::Result | Self::Near => "of the result's type",
        }
    }

    fn fits(self, module: &Checked<'_>, ty: u32, result: u32) -> bool {
        let form = module.form(ty);
        let several = form.count >= 1;
        match self {
            Self::Bool => form.scalar(Base::Bool),
            Self::Unsigned | Self::Lane => form.scalar(Base::Int) && module.unsigned(ty),
            Self::Ballot => form.int() && form.count == 4 && module.unsigned(ty),
            Self::Partition => form.int() && form.count == 4,
            Self::Bools => form.base == Base::Bool && several,
            Self::Ints => form.int() && several,
            Self::Naturals => form.int() && several && module.unsigned(ty),
            Self::Floats => form.float() && several,
            Self::Any => form.base != Base::Other && several,
            Self::Result => ty == result,
            Self::Near => form == module.form(result),
        }
    }
}

/// Checks a group operation.
pub(super) fn check(module: &Checked<'_>, item: &Item<'_>) -> Why {
    // These have no scope.
    let alone = matches!(
        item.opcode(),
        op::GROUP_NON_UNIFORM_PARTITION_NV | op::GROUP_NON_UNIFORM_QUAD_ALL_KHR | op::GROUP_NON_UNIFORM_QUAD_ANY_KHR
    );
    let scope = (!alone)
        .then(|| scopes::execution(module, item, item.word(3)))
        .flatten();
    scope.or_else(|| {
        let (_, result, operands) = ROWS.iter().find(|row| row.0 == item.opcode())?;
        let fits = result.fits(module, item.ty, item.ty);
        when(!fits, &format!("the result is not {}", result.text()))
            .or_else(|| typed(module, item, usize::from(!alone) + 3, operands))
    })
}

/// A minimum or maximum of values whose sign differs from the result's.
pub(super) fn doubtful(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let value = module.type_of(item.word(5));
    when(value != item.ty, "the value has another sign than the result")
}

/// Checks the operands from a word on.
fn typed(module: &Checked<'_>, item: &Item<'_>, first: usize, kinds: &[Kind]) -> Why {
    let operation = matches!(
        item.opcode(),
        op::GROUP_NON_UNIFORM_I_ADD..=op::GROUP_NON_UNIFORM_LOGICAL_XOR | op::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT
    );
    let first = first + usize::from(operation);
    let wrong = (first..).zip(kinds).find_map(|(at, kind)| {
        let id = item.word(at);
        let loose = *kind == Lane && module.words[1] < 0x10500 && !module.is_constant(id);
        when(loose, &format!("before version 1.5, %{id} has to be a constant")).or_else(|| {
            let fits = kind.fits(module, module.type_of(id), item.ty);
            when(!fits, &format!("%{id} is not {}", kind.text()))
        })
    });
    wrong.or_else(|| {
        let last = item.words.get(first + kinds.len()).copied();
        match (item.opcode(), item.word(first - 1)) {
            (op::GROUP_NON_UNIFORM_ROTATE_KHR, _) => last.and_then(|size| {
                let odd = module.constant(size).is_some_and(|value| !value.is_power_of_two());
                cluster(module, size).or_else(|| when(odd, "the cluster's size is not a power of two"))
            }),
            (op::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT, operation) => when(
                module.vulkan.is_some() && operation > 2,
                "Vulkan counts by Reduce, InclusiveScan and ExclusiveScan",
            ),
            (_, CLUSTERED) if operation => match last {
                Some(size) => cluster(module, size),
                None => Some("ClusteredReduce needs the size of a cluster".to_owned()),
            },
            (_, operand) if operation && PARTITIONED.contains(&operand) => match last {
                Some(ballot) => when(
                    !Kind::Partition.fits(module, module.type_of(ballot), 0),
                    &format!("%{ballot} is not {}", Kind::Partition.text()),
                ),
                None => Some("a partitioned operation needs a ballot".to_owned()),
            },
            _ => None,
        }
    })
}

/// The size of a cluster.
fn cluster(module: &Checked<'_>, size: u32) -> Why {
    let of = module.type_of(size);
    when(
        !Unsigned.fits(module, of, 0) || !module.is_constant(size),
        "the cluster's size is not a constant unsigned integer",
    )
}
