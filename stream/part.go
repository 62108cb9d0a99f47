package stream

// PartKind is the kind of a Part.
type PartKind uint8

const (
	PartText PartKind = iota
	PartThinking
	PartCall
)

// A Part is a run of a turn's text or reasoning, or one of its calls. Runs of one kind tile the turn's
// Text or Thinking: each begins where the previous one ended.
type Part struct {
	Kind          PartKind
	End           int    // offset in Text or Thinking; of a call, its Number
	ID            string // of its item, if that has one
	Signature     string // must be sent back with it unchanged
	SignatureOnly bool   // reasoning of which only the signature is known
}

// extendPart makes the text or reasoning end at the offset end.
func (t *Turn) extendPart(kind PartKind, end int) {
	if n := len(t.Parts) - 1; n >= 0 && t.Parts[n].Kind == kind && t.Parts[n].Signature == "" {
		t.Parts[n].End = end
		return
	}
	t.Parts = append(t.Parts, Part{Kind: kind, End: end})
}

// attachSignature attaches a signature to the latest run. If there is none, or it is signed already, the
// signature is of reasoning that was not shown.
func (t *Turn) attachSignature(e Event) {
	n := len(t.Parts) - 1
	if e.Code == SignedHidden || n < 0 || t.Parts[n].Kind == PartCall || t.Parts[n].Signature != "" {
		t.Parts = append(t.Parts, Part{Kind: PartThinking, End: len(t.Thinking), SignatureOnly: e.Code == SignedHidden})
		n++
	}
	t.Parts[n].Signature, t.Parts[n].ID = e.Text, PayloadOf[Signature](e).Item
}

// applySentBack records how a later request carries one of the turn's calls in its history.
func (t *Turn) applySentBack(e Event, n int) {
	r := PayloadOf[SentBackReport](e)
	if !t.SentBack {
		t.SentBackIn, t.SentBack = r.Exchange, true
	}
	if e.Slot < 1 || int(e.Slot) > len(t.Calls) {
		return
	}
	c := t.editCall(t.Calls[e.Slot-1])
	c.SentBack = append(c.SentBack, SentBackCall{r.Exchange, r.ID, e.Text, r.Policies, e.Code, n, r.KeptByProvider, r.Result})
	if e.Code != 0 {
		c.ResultCode = e.Code
	}
	if f := r.Finding; f.Diagnosis != nil {
		f.Event = n
		c.addFinding(f)
	}
}

// applyToolRun records a tool run that was matched to one of the turn's calls, or a finding about it.
func (t *Turn) applyToolRun(e Event, n int) {
	if e.Slot < 1 || int(e.Slot) > len(t.Calls) {
		return
	}
	c, ran := t.editCall(t.Calls[e.Slot-1]), PayloadOf[ToolExecution](e)
	if ran.Join != 0 {
		c.Runs = append(c.Runs, ToolRun{ran.Request, ran.Join, ran.Of, n})
	}
	if f := ran.Finding; f.Diagnosis != nil {
		f.Event = n
		c.addFinding(f)
	}
}
