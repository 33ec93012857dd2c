(* The checker in OCaml, on the integers of zarith. *)

Require Import Definitions Privacy Limits Value Bound.
Require Extraction.
Require Import ExtrOcamlBasic ExtrOcamlZBigInt.
From Coq Require Import ZArith NArith.

(* Without these, bits and divisors are computed digit by digit. *)
Extract Constant N.land => "Big_int_Z.and_big_int".
Extract Constant N.eqb => "Big_int_Z.eq_big_int".
Extract Constant Z.gcd => "Big_int_Z.gcd_big_int".

Extraction "checker.ml" check_private check_limit check_value best_answers check_bound.
