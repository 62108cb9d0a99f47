package toolrun

import "toolscope/stream"

// Findings lists all diagnoses that this package makes.
var Findings = []*stream.Diagnosis{
	altered, twice, repeated, cut, orphaned, early, notRun, unasked, resultCut, resultHalf, resultAltered, resultFlipped, schemaDrift,
}

var (
	altered = &stream.Diagnosis{
		Code: "EXEC_ALTERED", Severity: stream.Error, By: stream.Client, OtherSeverities: []stream.Severity{stream.Info},
		Verdict:      "changed",
		SeverityNote: "info if only fields with the same key, or digits beyond a double, were lost, as in most JSON libraries",
		Meaning:      "A tool got arguments that the model didn't write: the client changed them on the way.",
		Advice:       "Make the client pass the arguments on unchanged, or tell the model that it changes them.",
	}
	twice = &stream.Diagnosis{
		Code: "EXEC_TWICE", Severity: stream.Error, By: stream.Client,
		Verdict: "run twice",
		Meaning: "The tool of one call was run more than once. Its effects happened again, and the model got one result.",
		Advice:  "Make the client run each call id once, even if the end of a call is sent twice.",
	}
	repeated = &stream.Diagnosis{
		Code: "EXEC_REPEATED", Severity: stream.Warn, By: stream.Client,
		Verdict: "run again",
		Meaning: "A tool was run again with the same arguments, after a run for a turn that was cut off: the client retried and forgot the first run.",
		Advice:  "Run tools when their turn is complete, or make the client remember its runs across a retry.",
	}
	cut = &stream.Diagnosis{
		Code: "EXEC_CUT", Severity: stream.Error, By: stream.Client,
		Verdict: "run cut short",
		Meaning: "A tool was run with arguments that were not complete: they were cut off or malformed, or more of them arrived later.",
		Advice:  "Run a call when the provider says that its arguments are final, not when they parse.",
	}
	orphaned = &stream.Diagnosis{
		Code: "EXEC_ORPHANED", Severity: stream.Error, By: stream.Client,
		Verdict: "run in vain",
		Meaning: "A tool was run for a turn that was then cut off, refused, or ended by a limit. The tool's effects remain, and the conversation may not mention them.",
		Advice:  "Run tools when their turn is complete, or report to the model which tools were run.",
	}
	early = &stream.Diagnosis{
		Code: "EXEC_EARLY", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Error}, By: stream.Client,
		Verdict:      "run early",
		SeverityNote: "error if the arguments were not final",
		Meaning:      "A tool was run before its turn ended. With severity error, it was run before its arguments were final.",
		Advice:       "Nothing, if the client tolerates turns that are cut off later. Never run a call before its arguments are final.",
	}
	notRun = &stream.Diagnosis{
		Code: "EXEC_NOT", Severity: stream.Warn, By: stream.Client,
		Verdict: "not run",
		Meaning: "The model got a result for a call that never reached its tool. The client wrote the result, because its user or its rules refused the call, or because it couldn't run the tool.",
		Advice:  "Treat the result as the client's words, not the tool's.",
	}
	unasked = &stream.Diagnosis{
		Code: "EXEC_UNASKED", Severity: stream.Info, By: stream.Client,
		Meaning: "A tool was run that no recorded call asked for: the client ran it on its own, or the model's response was not recorded.",
		Advice:  "Nothing, if you intended the run.",
	}
	resultCut = &stream.Diagnosis{
		Code: "RESULT_CUT", Severity: stream.Warn, By: stream.Client,
		Verdict: "result cut",
		Meaning: "The model got less than the tool returned: the client truncated the result.",
		Advice:  "Make the tool return less, or page its results. The model doesn't know what is missing.",
	}
	resultHalf = &stream.Diagnosis{
		Code: "RESULT_HALF", Severity: stream.Info, By: stream.Client,
		Meaning: "The tool returned text and structured content that differ, and the model got only one of them.",
		Advice:  "Make the server return the same content in both.",
	}
	resultAltered = &stream.Diagnosis{
		Code: "RESULT_ALTERED", Severity: stream.Error, By: stream.Client,
		Verdict: "wrong result",
		Meaning: "The result that the model got is not what the tool returned.",
		Advice:  "Compare both results, and find the part of the client that changes results.",
	}
	resultFlipped = &stream.Diagnosis{
		Code: "RESULT_FLIPPED", Severity: stream.Error, By: stream.Client,
		Verdict: "flag flipped",
		Meaning: "The tool reported a failure and the model got a success, or the other way round.",
		Advice:  "Make the client pass the error flag on. Otherwise the model acts on the wrong outcome.",
	}
	schemaDrift = &stream.Diagnosis{
		Code: "TOOL_SCHEMA_DRIFT", Severity: stream.Warn, By: stream.Client, OtherSeverities: []stream.Severity{stream.Info},
		Verdict:      "schema drift",
		SeverityNote: "info if only descriptions and other annotations differ",
		Meaning:      "The schema that the model got for a tool differs from the one that the tool's server published. The server may refuse calls that follow the changed schema.",
		Advice:       "Compare both schemas. A client that rewrites schemas must undo the changes in the arguments.",
	}
)
