(* The checker in OCaml, on the integers of zarith. *)

Require Import Definitions Privacy Limits Value Bound.
Require Extraction.
Require Import ExtrOcamlBasic ExtrOcamlZBigInt.

Extraction "checker.ml" check_private check_limit check_value best_answers check_bound.
