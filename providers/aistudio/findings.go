package aistudio

import "toolscope/stream"

// findings are those that only this protocol makes.
var findings = []*stream.Diagnosis{
	argsAbsent, argsNotPositional, badStruct, dupChunks, finishNumber, lengthFirstDivergence, listAmbiguous,
	nonCanonical, numAsFloat, signedPartMissed,
}

var (
	argsAbsent = &stream.Diagnosis{
		Code: "ARGS_ABSENT", Severity: stream.Info, By: stream.Provider,
		Meaning: "AI Studio leaves the arguments of a call out when there are none: meant as {}.",
		Advice:  "Run the call with {}.",
	}
	argsNotPositional = &stream.Diagnosis{
		Code: "ARGS_NOT_POSITIONAL", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The arguments are ordinary JSON where this protocol has the positional array of a Struct: clients that expect the array get nothing.",
		Advice:  "Read both forms; the JSON is shown as it came.",
	}
	badStruct = &stream.Diagnosis{
		Code: "BAD_STRUCT", Severity: stream.Error, By: stream.Provider,
		Meaning: "The positional array of the arguments cannot be read as a Struct; it is shown as it came.",
		Advice:  "Look at the wire form of the call: it is a form nobody has seen yet, or damaged.",
	}
	dupChunks = &stream.Diagnosis{
		Code: "DUP_CHUNKS", Severity: stream.Info, By: stream.Provider,
		Meaning: "Two chunks bring the same call: one call that was sent twice, or two that are alike.",
		Advice:  "Go by the id where there is one; clients that count parts run it twice, those that compare arguments lose a real second call.",
	}
	finishNumber = &stream.Diagnosis{
		Code: "FIN_NUMBER", Severity: stream.Info, By: stream.Provider,
		Meaning: "The reason why the response ended is a number; the message has its word.",
		Advice:  "Nothing: it is how this protocol writes it.",
	}
	lengthFirstDivergence = &stream.Diagnosis{
		Code: "LENGTH_FIRST_DIVERGENCE", Severity: stream.Warn, By: stream.Client,
		Meaning: "A client that decides by the length of an array before it looks at what is in it reads other arguments from these bytes.",
		Advice:  "Decide by the shape of each value first: a list of two is no number.",
	}
	listAmbiguous = &stream.Diagnosis{
		Code: "LIST_AMBIGUOUS", Severity: stream.Info, By: stream.Provider,
		Meaning: "A list of one element may as well be an array round a value; it is read as the list.",
		Advice:  "Check the argument against the tool's schema, which tells the two apart.",
	}
	nonCanonical = &stream.Diagnosis{
		Code: "NON_CANONICAL_VALUE", Severity: stream.Warn, By: stream.Provider,
		Meaning: "A value is not as protobuf writes it: clients disagree on what it means.",
		Advice:  "Compare what your client made of it with what is shown.",
	}
	numAsFloat = &stream.Diagnosis{
		Code: "NUM_AS_FLOAT", Severity: stream.Warn, By: stream.Provider,
		Meaning: "A number cannot be kept exactly: every number of this protocol is a double.",
		Advice:  "Declare ids and other long numbers as strings in the tool's schema.",
	}
	signedPartMissed = &stream.Diagnosis{
		Code: "SIGNED_PART_MISSED", Severity: stream.Info, By: stream.Client,
		Meaning: "The part of the call has more fields than usual, as its signature is in it: clients that know a call by 11 fields never see it.",
		Advice:  "Know a call by the field it stands in, not by how many there are.",
	}
)
