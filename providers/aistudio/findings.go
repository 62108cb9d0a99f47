package aistudio

import "toolscope/stream"

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	argsAbsent, argsNotPositional, badStruct, dupChunks, finishNumber, lengthFirstDivergence, listAmbiguous,
	nonCanonical, numAsFloat, signedPartMissed,
}

var (
	argsAbsent = &stream.Diagnosis{
		Code: "ARGS_ABSENT", Severity: stream.Info, By: stream.Provider,
		Meaning: "AI Studio omits the arguments of a call that has none. They are treated as {}.",
		Advice:  "Run the call with {}.",
	}
	argsNotPositional = &stream.Diagnosis{
		Code: "ARGS_NOT_POSITIONAL", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The arguments are ordinary JSON, although this protocol requires a positional array. Clients that expect the array get no arguments.",
		Advice:  "Accept both forms in your client. The JSON is shown as it arrived.",
	}
	badStruct = &stream.Diagnosis{
		Code: "BAD_STRUCT", Severity: stream.Error, By: stream.Provider,
		Meaning: "The positional array of the arguments can't be read as an object. It is shown as it arrived.",
		Advice:  "Check the call in the wire pane: it is damaged, or it has a new form.",
	}
	dupChunks = &stream.Diagnosis{
		Code: "DUP_CHUNKS", Severity: stream.Info, By: stream.Provider,
		Meaning: "Two chunks contain the same call: one call that was sent twice, or two equal calls.",
		Advice:  "Compare the ids if there are any. Clients that count parts run the call twice; clients that compare arguments lose a real second call.",
	}
	finishNumber = &stream.Diagnosis{
		Code: "FIN_NUMBER", Severity: stream.Info, By: stream.Provider,
		Meaning: "The finish reason is a number. The message contains its name.",
		Advice:  "Nothing: this protocol writes finish reasons as numbers.",
	}
	lengthFirstDivergence = &stream.Diagnosis{
		Code: "LENGTH_FIRST_DIVERGENCE", Severity: stream.Warn, By: stream.Client,
		Meaning: "A client that checks an array's length before its content reads different arguments from these bytes.",
		Advice:  "Make your client check the content of each array before its length. A list of two elements is not a number.",
	}
	listAmbiguous = &stream.Diagnosis{
		Code: "LIST_AMBIGUOUS", Severity: stream.Info, By: stream.Provider,
		Meaning: "A list of one element may also be an array around a value. toolscope reads it as a list.",
		Advice:  "Check the tool's schema, which shows whether the argument is a list or a single value.",
	}
	nonCanonical = &stream.Diagnosis{
		Code: "NON_CANONICAL_VALUE", Severity: stream.Warn, By: stream.Provider,
		Meaning: "A value is not written as protobuf writes it. Clients disagree on its meaning.",
		Advice:  "Compare your client's value with the value that toolscope shows.",
	}
	numAsFloat = &stream.Diagnosis{
		Code: "NUM_AS_FLOAT", Severity: stream.Warn, By: stream.Provider,
		Meaning: "A number can't be kept exactly, because every number of this protocol is a double.",
		Advice:  "Declare ids and other long numbers as strings in the tool's schema.",
	}
	signedPartMissed = &stream.Diagnosis{
		Code: "SIGNED_PART_MISSED", Severity: stream.Info, By: stream.Client,
		Meaning: "The part of the call has more fields than usual, because it contains a signature. Clients that expect 11 fields never see the call.",
		Advice:  "Recognise a call by its field, not by the number of fields.",
	}
)
