(* mechdesign-check LISTING: the verified checker on a plain text listing.

   This reader is not verified. A listing is words separated by white space, in this order; N is a
   number of words that follow, F a fraction "3/7" or an integer, I an integer, x an input from 0.

     mechdesign-listing 1
     inputs K
     cone N generator...
     limits N (EXPONENT F rows N (...)...)...     Sum_y max_j A_j . q_y <= e^EXPONENT F
     channel N WHOLE, then N columns of K integers over WHOLE
     objective none
             | loss N UNIT (mean OVER, K integers w | worst), low: N columns of K integers over UNIT,
               then "same", or "high" and N columns that are not smaller
             | squares N CONSTANT UNIT, K integers p, N times K integers v
     then, unless the objective is none:
     answers (given, an answer for each output | best)
     value F
     bound F
     certificate
       relaxations N (average N I... | restrict N x... | representatives N x...
         | members N (keep PLACE | at PLACE OVER N I...)...)...
       costs | decoders N F... | gain
       multipliers M: for each of M nodes a number N, then N times
         PLACE upper|lower X OTHER WEIGHT, the weight an integer over 2^192
       limits N: for each N (0, or the nodes), for each node N (part WEIGHT)...
       prices, N integers over 2^192: N is the number of inputs after relaxations
       orthant | line N x... | one-budget N (N x...)... direction N I...
         | knapsack OVER N I... | rays N (PLACE upper|lower X OTHER)... direction N I...
     end

   generator: constant EXPONENT, K blocks, K times 0 or 1 (protected), K weights
            | matrix N EXPONENT..., K x K numbers of exponents, from 1, 0 for none, then K weights
            | lift LOWER UPPER OVER, K integers p     LOWER, UPPER: EXPONENT or none
            | lift-ball LOWER UPPER OVER, K integers p, RADIUS
            | lift-box LOWER UPPER OVER, K integers low, K integers high
            | rows N (left N (x F)... EXPONENT right N (x F)...)...
   EXPONENT: two fractions f s, the number f sqrt s; s is 1 where it is rational.

   It prints one line for each claim that is proved, and ends with 0; or says which is refused, and
   ends with 1; or with 2, if the listing cannot be read. *)

module B = Big_int_Z

exception Malformed of string

let fail word = raise (Malformed word)

open Checker

(* ---- words ----------------------------------------------------------------------------------- *)

let text = ref ""
let place_ = ref 0

let is_space c = c = ' ' || c = '\n' || c = '\t' || c = '\r'

let word () =
  let s = !text in
  let n = String.length s in
  let i = ref !place_ in
  while !i < n && is_space s.[!i] do incr i done;
  let start = !i in
  while !i < n && not (is_space s.[!i]) do incr i done;
  place_ := !i;
  if start = !i then fail "the listing ends too early";
  String.sub s start (!i - start)

let expect w = let found = word () in if found <> w then fail ("expected " ^ w ^ ", found " ^ found)

let is_integer s =
  let n = String.length s in
  let from = if n > 0 && s.[0] = '-' then 1 else 0 in
  n > from && (let ok = ref true in
               for i = from to n - 1 do if s.[i] < '0' || s.[i] > '9' then ok := false done; !ok)

let integer_of s = if is_integer s then B.big_int_of_string s else fail ("no integer: " ^ s)
let integer () = integer_of (word ())

let natural () =
  let v = integer () in
  if B.sign_big_int v < 0 then fail "a number below 0" else v

let positive () =
  let v = integer () in
  if B.sign_big_int v <= 0 then fail "a number that is not above 0" else v

let count () = let v = natural () in if B.is_int_big_int v then B.int_of_big_int v else fail "too many"

let fraction () =
  let s = word () in
  match String.index_opt s '/' with
  | None -> { num = integer_of s; den = B.unit_big_int }
  | Some i ->
    let den = integer_of (String.sub s (i + 1) (String.length s - i - 1)) in
    if B.sign_big_int den <= 0 then fail "a denominator that is not above 0";
    { num = integer_of (String.sub s 0 i); den }

(* n times, in order *)
let times n read =
  let rec go n found = if n = 0 then List.rev found else go (n - 1) (read () :: found) in
  if n < 0 then fail "a number below 0" else go n []

let rec peano n found = if n = 0 then found else peano (n - 1) (S found)

(* ---- parts ----------------------------------------------------------------------------------- *)

let exponent_of_factor factor = { factor; square = fraction () }
let exponent () = exponent_of_factor (fraction ())

let exponent_or_none () =
  let start = !place_ in
  if word () = "none" then None else (place_ := start; Some (exponent ()))

let flag () = match word () with "0" -> false | "1" -> true | w -> fail ("expected 0 or 1, found " ^ w)

let pairs () = times (count ()) (fun () -> let x = natural () in (x, fraction ()))

let row () =
  expect "left";
  let left = pairs () in
  let exponent_of = exponent () in
  expect "right";
  { left; exponent_of; right = pairs () }

let generator k () =
  match word () with
  | "constant" ->
    let a = exponent () in
    let block = times k natural in
    let protected = times k flag in
    Ratio (Constant (a, block, protected), times k integer)
  | "matrix" ->
    let values = times (count ()) exponent in
    let table = times k (fun () -> times k natural) in
    Ratio (Matrix (values, table), times k integer)
  | "lift" ->
    let lower = exponent_or_none () in
    let upper = exponent_or_none () in
    let over = positive () in
    Lift (lower, upper, { entries = times k integer; over })
  | "lift-ball" ->
    let lower = exponent_or_none () in
    let upper = exponent_or_none () in
    let over = positive () in
    let entries = times k integer in
    LiftOver (lower, upper, Ball ({ entries; over }, integer ()))
  | "lift-box" ->
    let lower = exponent_or_none () in
    let upper = exponent_or_none () in
    let over = positive () in
    let low = times k integer in
    LiftOver (lower, upper, Box (low, times k integer, over))
  | "rows" -> Rows (times (count ()) row)
  | w -> fail ("no generator: " ^ w)

let gauge () =
  let growth = exponent () in
  let limit = fraction () in
  expect "rows";
  { parts = times (count ()) row; limit; growth }

let columns n k = times n (fun () -> times k integer)

let objective k =
  match word () with
  | "none" -> None
  | "loss" ->
    let n = count () in
    let unit = positive () in
    let weights =
      match word () with
      | "mean" -> let over = positive () in Some { entries = times k integer; over }
      | "worst" -> None
      | w -> fail ("expected mean or worst, found " ^ w) in
    expect "low";
    let low = columns n k in
    let high = match word () with
      | "same" -> low
      | "high" -> columns n k
      | w -> fail ("expected same or high, found " ^ w) in
    Some (Loss (low, high, unit, weights))
  | "squares" ->
    let n = count () in
    let constant = fraction () in
    let unit = positive () in
    let p = times k integer in
    Some (Squares (constant, p, columns n k, unit))
  | w -> fail ("no objective: " ^ w)

let choice () =
  match word () with
  | "keep" -> Keep (natural ())
  | "at" ->
    let place = natural () in
    let over = positive () in
    At (place, { entries = times (count ()) integer; over })
  | w -> fail ("expected keep or at, found " ^ w)

let relaxation () =
  match word () with
  | "average" -> Average (times (count ()) integer)
  | "restrict" -> RestrictTo (times (count ()) natural)
  | "representatives" -> RepresentedBy (times (count ()) natural)
  | "members" -> Members (times (count ()) choice)
  | w -> fail ("no relaxation: " ^ w)

let row_of_cone weight =
  let place = natural () in
  let is_upper = match word () with
    | "upper" -> true | "lower" -> false | w -> fail ("expected upper or lower, found " ^ w) in
  let row_x = natural () in
  let row_other = natural () in
  { place; is_upper; row_x; row_other; weight = weight () }

let multiplier () = row_of_cone integer
let facet () = row_of_cone (fun () -> B.zero_big_int)

let oracle () =
  match word () with
  | "orthant" -> Orthant
  | "line" -> LineOracle (times (count ()) natural)
  | "one-budget" ->
    let blocks = times (count ()) (fun () -> times (count ()) natural) in
    expect "direction";
    OneBudgetOracle (blocks, times (count ()) integer)
  | "knapsack" ->
    let over = positive () in
    KnapsackOracle { entries = times (count ()) integer; over }
  | "rays" ->
    let facets = times (count ()) facet in
    expect "direction";
    RaysOracle (facets, times (count ()) integer)
  | w -> fail ("no oracle: " ^ w)

let certificate () =
  expect "relaxations";
  let relaxations = times (count ()) relaxation in
  let line = match word () with
    | "costs" -> Costs
    | "decoders" -> DecoderNodes (times (count ()) fraction)
    | "gain" -> AsGain
    | w -> fail ("no linearization: " ^ w) in
  expect "multipliers";
  let multipliers = times (count ()) (fun () -> times (count ()) multiplier) in
  expect "limits";
  let of_limits = times (count ()) (fun () ->
    times (count ()) (fun () ->
      times (count ()) (fun () -> let j = natural () in (j, integer ())))) in
  expect "prices";
  let prices = times (count ()) integer in
  { relaxations; line; multipliers; of_limits; prices; oracle_of = oracle () }

(* ---- the program ----------------------------------------------------------------------------- *)

let refused = ref false

let claim name holds =
  if not holds then refused := true;
  print_endline ((if holds then "proved   " else "refused  ") ^ name)

let read path =
  let channel = open_in_bin path in
  text := really_input_string channel (in_channel_length channel);
  close_in channel

let check () =
  expect "mechdesign-listing";
  expect "1";
  expect "inputs";
  let k = count () in
  let inputs = peano k O in
  expect "cone";
  let cone = times (count ()) (generator k) in
  expect "limits";
  let limits = times (count ()) gauge in
  expect "channel";
  let n = count () in
  let whole = positive () in
  let table = columns n k in
  expect "objective";
  let aim = objective k in
  let claims = match aim with
    | None -> None
    | Some aim ->
      let statement = { inputs; cone; limits; aim } in
      expect "answers";
      let answers = match word () with
        | "given" -> times n natural
        | "best" -> best_answers statement table
        | w -> fail ("expected given or best, found " ^ w) in
      expect "value";
      let value = fraction () in
      expect "bound";
      let bound = fraction () in
      expect "certificate";
      Some (statement, answers, value, bound, certificate ()) in
  expect "end";
  claim "private: every column keeps every row" (check_private inputs cone table whole);
  if limits <> [] then
    claim "limits: the channel as a whole keeps them"
      (List.for_all (check_limit inputs table whole) limits);
  match claims with
  | None -> ()
  | Some (statement, answers, value, bound, certificate) ->
    claim "value: the table is no worse" (check_value statement table whole answers value);
    claim "bound: no private channel is better" (check_bound statement certificate bound)

let () =
  if Array.length Sys.argv <> 2 then (prerr_endline "usage: mechdesign-check LISTING"; exit 2);
  match read Sys.argv.(1); check () with
  | () -> exit (if !refused then 1 else 0)
  | exception Malformed why -> prerr_endline ("mechdesign-check: " ^ why); exit 2
  | exception Sys_error why -> prerr_endline ("mechdesign-check: " ^ why); exit 2
