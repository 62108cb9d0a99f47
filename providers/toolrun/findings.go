package toolrun

import "toolscope/stream"

// Findings are those that are made here.
var Findings = []*stream.Diagnosis{
	altered, twice, repeated, cut, orphaned, early, notRun, unasked, resultCut, resultHalf, resultAltered, resultFlipped, schemaDrift,
}

var (
	altered = &stream.Diagnosis{
		Code: "EXEC_ALTERED", Severity: stream.Error, By: stream.Client,
		Meaning: "A tool got other arguments than the model wrote: the client changed them on the way.",
		Advice:  "Have the client send what was written, or tell the model that it does not.",
	}
	twice = &stream.Diagnosis{
		Code: "EXEC_TWICE", Severity: stream.Error, By: stream.Client,
		Meaning: "The tool of one call was run more than once: what it does was done again, and the model was told of one.",
		Advice:  "Have the client run each id once, even where the end of a call is said twice.",
	}
	repeated = &stream.Diagnosis{
		Code: "EXEC_REPEATED", Severity: stream.Warn, By: stream.Client,
		Meaning: "A tool was run with arguments with which it was run already for a turn that was cut: the client tried again and forgot.",
		Advice:  "Run tools when their turn is whole, or keep what was run over a retry.",
	}
	cut = &stream.Diagnosis{
		Code: "EXEC_CUT", Severity: stream.Error, By: stream.Client,
		Meaning: "A tool was run with arguments that were not whole: they were cut, malformed, or more of them came.",
		Advice:  "Run a call when the provider has said that its arguments are final, not when they parse.",
	}
	orphaned = &stream.Diagnosis{
		Code: "EXEC_ORPHANED", Severity: stream.Error, By: stream.Client,
		Meaning: "A tool was run for a turn that then was cut, refused, or ended by a limit: what it did stands, and the conversation may not know of it.",
		Advice:  "Run tools when their turn is whole, or tell the model what was run.",
	}
	early = &stream.Diagnosis{
		Code: "EXEC_EARLY", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Error}, By: stream.Client,
		Meaning: "A tool was run before its turn had ended; as an error, before its arguments were final.",
		Advice:  "Nothing, if the client bears turns that are cut later; before the seal a call must never be run.",
	}
	notRun = &stream.Diagnosis{
		Code: "EXEC_NOT", Severity: stream.Warn, By: stream.Client,
		Meaning: "The model was given a result of a call whose tool was never asked: the client answered itself, because its user or its rules refused, or it could not.",
		Advice:  "Read the result as the client's words, not the tool's.",
	}
	unasked = &stream.Diagnosis{
		Code: "EXEC_UNASKED", Severity: stream.Info, By: stream.Client,
		Meaning: "A tool was run that no call of the recording asked for: the client did it by itself, or its model's answer was not recorded.",
		Advice:  "Nothing, where it is meant so.",
	}
	resultCut = &stream.Diagnosis{
		Code: "RESULT_CUT", Severity: stream.Warn, By: stream.Client,
		Meaning: "The model was told less than the tool answered: the client cut the result.",
		Advice:  "Have the tool answer less, or in pages; the model cannot know what it was not told.",
	}
	resultHalf = &stream.Diagnosis{
		Code: "RESULT_HALF", Severity: stream.Info, By: stream.Client,
		Meaning: "The tool answered text and structured content that differ, and the model was told only one of them.",
		Advice:  "Have the server say the same in both.",
	}
	resultAltered = &stream.Diagnosis{
		Code: "RESULT_ALTERED", Severity: stream.Error, By: stream.Client,
		Meaning: "What the model was told is not what the tool answered.",
		Advice:  "Compare the two, and find what in the client stands between.",
	}
	resultFlipped = &stream.Diagnosis{
		Code: "RESULT_FLIPPED", Severity: stream.Error, By: stream.Client,
		Meaning: "The tool said that it failed and the model was told that it did not, or the other way round.",
		Advice:  "Have the client carry the flag over: models go on as if all were well.",
	}
	schemaDrift = &stream.Diagnosis{
		Code: "TOOL_SCHEMA_DRIFT", Severity: stream.Warn, By: stream.Client, OtherSeverities: []stream.Severity{stream.Info},
		Meaning: "The model was given another schema of a tool than the tool's server told: what it writes by it the server may refuse.",
		Advice:  "Compare the two; a client that rewrites schemas must undo that in the arguments.",
	}
)
