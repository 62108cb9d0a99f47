package anthropic

import "toolscope/stream"

// findings are those that only this protocol makes.
var findings = []*stream.Diagnosis{
	modelFallback, usageModels, usageCorrected,
}

var (
	modelFallback = &stream.Diagnosis{
		Code: "MODEL_FALLBACK", Severity: stream.Info, By: stream.Provider,
		Meaning: "One model declined and another continues the same message.",
		Advice:  "Ascribe what came before to the first model, and price each part by its own.",
	}
	usageModels = &stream.Diagnosis{
		Code: "USAGE_SEVERAL_MODELS", Severity: stream.Info, By: stream.Provider,
		Meaning: "Several models served one turn at different prices, and the totals do not tell their shares.",
		Advice:  "Read usage.iterations for the tokens of each.",
	}
	usageCorrected = &stream.Diagnosis{
		Code: "USAGE_CORRECTED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The input tokens were told twice with different numbers.",
		Advice:  "Bill by the last count.",
	}
)
