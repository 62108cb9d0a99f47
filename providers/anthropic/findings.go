package anthropic

import "toolscope/stream"

// findings lists the findings that only this protocol makes.
var findings = []*stream.Diagnosis{
	modelFallback, usageModels, usageCorrected,
}

var (
	modelFallback = &stream.Diagnosis{
		Code: "MODEL_FALLBACK", Severity: stream.Info, By: stream.Provider,
		Meaning: "One model declined, and another model continues the same message.",
		Advice:  "Attribute the content before this point to the first model, and price each part by its own model.",
	}
	usageModels = &stream.Diagnosis{
		Code: "USAGE_SEVERAL_MODELS", Severity: stream.Info, By: stream.Provider,
		Meaning: "Several models served one turn at different prices, and the totals don't show their shares.",
		Advice:  "Read the tokens of each model in usage.iterations.",
	}
	usageCorrected = &stream.Diagnosis{
		Code: "USAGE_CORRECTED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The input tokens were reported twice with different numbers.",
		Advice:  "Use the last number, which is the billed one.",
	}
)
