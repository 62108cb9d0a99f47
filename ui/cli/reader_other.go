//go:build !unix

package cli

// endWithReader does nothing where pipes do not tell that nobody reads them.
func (a *app) endWithReader() (stop func()) { return func() {} }
