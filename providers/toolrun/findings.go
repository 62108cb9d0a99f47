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
		SeverityNote: "info if only repeated keys were lost, or digits that a double can't store: most JSON libraries lose these",
		Meaning:      "A tool got arguments that the model didn't write: the client changed the arguments.",
		Advice:       "Make the client pass on the arguments unchanged, or make it tell the model about the change.",
	}
	twice = &stream.Diagnosis{
		Code: "EXEC_TWICE", Severity: stream.Error, By: stream.Client,
		Verdict: "run twice",
		Meaning: "The tool was run more than once for one call. Its effects happened each time, but the model got only one result.",
		Advice:  "Make the client run each call only once, even if the end of the call is sent twice.",
	}
	repeated = &stream.Diagnosis{
		Code: "EXEC_REPEATED", Severity: stream.Warn, By: stream.Client,
		Verdict: "run again",
		Meaning: "A tool was run with the same arguments as in an earlier turn that was cut off. The client retried the request without regard to the first run.",
		Advice:  "Run tools only when their turn is complete, or make the client remember tool runs across retries.",
	}
	cut = &stream.Diagnosis{
		Code: "EXEC_CUT", Severity: stream.Error, By: stream.Client,
		Verdict: "run cut short",
		Meaning: "A tool was run with incomplete arguments: the arguments were cut off or malformed, or more of them arrived later.",
		Advice:  "Run a call when the provider signals that the arguments are final, not as soon as they parse.",
	}
	orphaned = &stream.Diagnosis{
		Code: "EXEC_ORPHANED", Severity: stream.Error, By: stream.Client,
		Verdict: "run in vain",
		Meaning: "A tool was run for a turn that was then cut off, refused, or ended by a limit. The tool's effects remain, but the conversation might not mention them.",
		Advice:  "Run tools only when their turn is complete, or tell the model about the tools that were run.",
	}
	early = &stream.Diagnosis{
		Code: "EXEC_EARLY", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Error}, By: stream.Client,
		Verdict:      "run early",
		SeverityNote: "error if the arguments were not final",
		Meaning:      "A tool was run before its turn ended. If the severity is error, not even the arguments were final.",
		Advice:       "Nothing, if the client tolerates turns that are cut off later. Never run a call before its arguments are final.",
	}
	notRun = &stream.Diagnosis{
		Code: "EXEC_NOT", Severity: stream.Warn, By: stream.Client,
		Verdict: "not run",
		Meaning: "The model got a result for a call that never reached its tool. The client wrote the result, because the user or the client's rules refused the call, or because the client couldn't run the tool.",
		Advice:  "Treat the result as the client's output, not the tool's.",
	}
	unasked = &stream.Diagnosis{
		Code: "EXEC_UNASKED", Severity: stream.Info, By: stream.Client,
		Meaning: "A tool was run, but no recorded call asked for it. Either the client ran the tool without a call, or the model's response was not recorded.",
		Advice:  "Nothing, if you expected the tool to run.",
	}
	resultCut = &stream.Diagnosis{
		Code: "RESULT_CUT", Severity: stream.Warn, By: stream.Client,
		Verdict: "result cut",
		Meaning: "The model got less than the tool returned: the client truncated the result.",
		Advice:  "Make the tool return less, or split its results into pages. The model doesn't know which part is missing.",
	}
	resultHalf = &stream.Diagnosis{
		Code: "RESULT_HALF", Severity: stream.Info, By: stream.Client,
		Meaning: "The tool returned text and structured content that differ. The model got only the text, or only the structured content.",
		Advice:  "Make the server return the same content in both forms.",
	}
	resultAltered = &stream.Diagnosis{
		Code: "RESULT_ALTERED", Severity: stream.Error, By: stream.Client,
		Verdict: "wrong result",
		Meaning: "The model got a result that differs from the tool's result.",
		Advice:  "Compare both results, and find the part of the client that changes results.",
	}
	resultFlipped = &stream.Diagnosis{
		Code: "RESULT_FLIPPED", Severity: stream.Error, By: stream.Client,
		Verdict: "flag flipped",
		Meaning: "The tool reported a failure, but the result that the model got reports a success, or the other way round.",
		Advice:  "Make the client pass on the error flag. Without the flag, the model acts on the wrong outcome.",
	}
	schemaDrift = &stream.Diagnosis{
		Code: "TOOL_SCHEMA_DRIFT", Severity: stream.Warn, By: stream.Client, OtherSeverities: []stream.Severity{stream.Info},
		Verdict:      "schema drift",
		SeverityNote: "info if only descriptions and other annotations differ",
		Meaning:      "The model got a different schema for a tool than the tool's server published. The server may refuse calls that follow the changed schema.",
		Advice:       "Compare both schemas. A client that rewrites a schema must convert the arguments back to the original schema.",
	}
)
