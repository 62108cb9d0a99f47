package redact
import ("testing";"time")
func TestZZStart(t *testing.T) { a:=time.Now(); all := compileRules(shapes); t.Log(len(all), time.Since(a)); b:=time.Now(); newScanner(all); t.Log(time.Since(b)); c:=time.Now(); sharedRules(); t.Log(time.Since(c)) }
