package cli

import (
	"context"
	"fmt"
)

// saveDemos writes one scenario, or all, to a folder as captures.
func (a *app) saveDemos(dir, name string) error {
	if _, err := demoSource(context.Background(), name); err != nil {
		return err
	}
	for _, s := range scenarios {
		if name != tour && name != s.name {
			continue
		}
		data, err := demos.ReadFile("demo/" + s.name + ".tsc")
		if err != nil {
			return err
		}
		path, err := saveInto(dir, s.name+".tsc", data)
		if err != nil {
			return fmt.Errorf("--save: %w", err)
		}
		a.stdout.writeWrapped(path+"  ", s.shows)
	}
	return nil
}
