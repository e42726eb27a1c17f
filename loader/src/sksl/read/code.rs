//! Statements and expressions.

use super::*;

impl<T: Trace> Reader<'_, '_, T> {
    pub(super) fn statement(&mut self) -> Result<Handle<Statement>> {
        let offset = self.here();
        self.statement_or_void()?
            .ok_or_else(|| self.wrong(Command::VOID, offset, "a statement"))
    }

    pub(super) fn statement_or_void(&mut self) -> Result<Option<Handle<Statement>>> {
        self.deeper()?;
        let (command, offset) = self.open()?;
        let made = match command {
            Command::VOID => None,
            other => {
                let statement = self.statement_body(other, offset)?;
                Some(self.statements.add(statement, offset))
            }
        };
        self.trace.leave();
        self.depth -= 1;
        Ok(made)
    }

    pub(super) fn statement_body(&mut self, command: Command, offset: u32) -> Result<Statement> {
        Ok(match command {
            Command::BLOCK => {
                let table = self.table()?;
                let count = usize::from(self.u8("statementCount")?);
                let statements = self.items(count, Self::statement)?;
                let kind = self.known("blockKind", BlockKind, BlockKind::is_known)?;
                Statement::Block {
                    table,
                    statements,
                    kind,
                }
            }
            Command::BREAK => Statement::Break,
            Command::CONTINUE => Statement::Continue,
            Command::DISCARD => Statement::Discard,
            Command::NOP => Statement::Nop,
            Command::DO => Statement::Do {
                body: self.statement()?,
                test: self.expression()?,
            },
            Command::EXPRESSION_STATEMENT => Statement::Expression(self.expression()?),
            Command::FOR => Statement::For {
                table: self.table()?,
                initializer: self.statement_or_void()?,
                test: self.expression_or_void()?,
                next: self.expression_or_void()?,
                body: self.statement()?,
            },
            Command::IF => Statement::If {
                is_static: self.bool("isStatic")?,
                test: self.expression()?,
                then: self.statement()?,
                otherwise: self.statement_or_void()?,
            },
            Command::RETURN => Statement::Return(self.expression_or_void()?),
            Command::SWITCH => {
                let is_static = self.bool("isStatic")?;
                let table = self.table()?;
                let value = self.expression()?;
                let count = usize::from(self.u8("caseCount")?);
                Statement::Switch {
                    is_static,
                    table,
                    value,
                    cases: self.items(count, Self::case)?,
                }
            }
            Command::VAR_DECLARATION => Statement::Variable {
                variable: self.id("var")?,
                base_type: self.ty()?,
                array_size: self.u8("arraySize")?,
                value: self.expression_or_void()?,
            },
            other => return Err(self.wrong(other, offset, "a statement")),
        })
    }

    pub(super) fn case(&mut self) -> Result<Handle<Case>> {
        let offset = self.here();
        self.trace.enter("Case", offset);
        let value = match self.bool("isDefault")? {
            true => None,
            false => Some(self.u32("value")? as i32),
        };
        let body = self.statement()?;
        self.trace.leave();
        Ok(self.cases.add(Case { value, body }, offset))
    }

    // Expressions.

    pub(super) fn expression(&mut self) -> Result<Handle<Expression>> {
        let offset = self.here();
        self.expression_or_void()?
            .ok_or_else(|| self.wrong(Command::VOID, offset, "an expression"))
    }

    pub(super) fn expression_or_void(&mut self) -> Result<Option<Handle<Expression>>> {
        self.deeper()?;
        let (command, offset) = self.open()?;
        let made = match command {
            Command::VOID => None,
            other => {
                let expression = self.expression_body(other, offset)?;
                Some(self.expressions.add(expression, offset))
            }
        };
        self.trace.leave();
        self.depth -= 1;
        Ok(made)
    }

    pub(super) fn operator(&mut self) -> Result<Operator> {
        self.known("op", Operator, Operator::is_known)
    }

    pub(super) fn expression_body(&mut self, command: Command, offset: u32) -> Result<Expression> {
        Ok(match command {
            Command::BINARY => Expression::Binary {
                left: self.expression()?,
                op: self.operator()?,
                right: self.expression()?,
            },
            Command::BOOL_LITERAL => Expression::Bool(self.bool("bool value")?),
            Command::FLOAT_LITERAL => Expression::Float {
                ty: self.ty()?,
                bits: self.u32("float bits")?,
            },
            Command::INT_LITERAL => Expression::Int {
                ty: self.ty()?,
                bits: self.u32("int value")?,
            },
            Command(6..=14) => {
                let ty = self.ty()?;
                let at = self.here();
                let count = usize::from(self.u8("argCount")?);
                if count != 1 && !matches!(command.0, 6 | 8 | 14) {
                    let message = format!("{command} takes one argument, not {count}");
                    return Err(Error::invalid(FORMAT, message, u64::from(at)));
                }
                Expression::Constructor {
                    command,
                    ty,
                    arguments: self.items(count, Self::expression)?,
                }
            }
            Command::FIELD_ACCESS => Expression::FieldAccess {
                base: self.expression()?,
                index: self.u8("field index")?,
                owner: self.known("ownerKind", FieldOwner, FieldOwner::is_known)?,
            },
            Command::FUNCTION_CALL => {
                let ty = self.ty()?;
                let function = self.id_or_builtin("function")?;
                let count = usize::from(self.u8("argCount")?);
                Expression::Call {
                    ty,
                    function,
                    arguments: self.items(count, Self::expression)?,
                }
            }
            Command::INDEX => Expression::Index {
                base: self.expression()?,
                index: self.expression()?,
            },
            Command::PREFIX => Expression::Prefix {
                op: self.operator()?,
                operand: self.expression()?,
            },
            Command::POSTFIX => Expression::Postfix {
                op: self.operator()?,
                operand: self.expression()?,
            },
            Command::SETTING => Expression::Setting(self.str("name")?),
            Command::SWIZZLE => self.swizzle()?,
            Command::TERNARY => Expression::Ternary {
                test: self.expression()?,
                then: self.expression()?,
                otherwise: self.expression()?,
            },
            Command::VARIABLE_REFERENCE => Expression::Variable {
                variable: self.id_or_builtin("var")?,
                kind: self.known("refKind", RefKind, RefKind::is_known)?,
            },
            other => return Err(self.wrong(other, offset, "an expression")),
        })
    }

    pub(super) fn swizzle(&mut self) -> Result<Expression> {
        let base = self.expression()?;
        let at = u64::from(self.here());
        let count = self.u8("componentCount")?;
        if !(1..=4).contains(&count) {
            return Err(Error::invalid(FORMAT, format!("swizzle of {count} components"), at));
        }
        let mut components = [0; 4];
        for component in &mut components[..usize::from(count)] {
            let at = u64::from(self.here());
            *component = self.u8("component")?;
            if *component > 3 {
                return Err(Error::invalid(FORMAT, format!("swizzle component {component}"), at));
            }
        }
        Ok(Expression::Swizzle {
            base,
            components,
            count,
        })
    }
}
