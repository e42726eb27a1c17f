//! VBC, the Vega bytecode: shader reflection followed by SPIR-V.
