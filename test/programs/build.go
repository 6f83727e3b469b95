// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
)

// build compiles the group's programs into dir.
func (g group) build(ctx context.Context, tree checkout, dir string, step *step) error {
	args := append([]string{"build", "-v", "-o", dir + "/"}, g.flags()...)
	args = append(args, g.packages()...)
	out := &compilerOutput{step: step}
	if err := goCommand(ctx, tree.module(g.dir), out, out, args...); err != nil {
		return fmt.Errorf("build %s in module %s: %w%s", g.title(), tree.module(g.dir), err, out.tail())
	}
	for _, p := range g.programs {
		built := filepath.Join(dir, builtName(p.pkg))
		if err := os.Rename(built, filepath.Join(dir, p.file())); err != nil {
			return fmt.Errorf("build %s: %w", p.name, err)
		}
	}
	return nil
}

// majorVersion is the last element of the path of a module past its first version.
var majorVersion = regexp.MustCompile(`^v[2-9][0-9]*$`)

// builtName returns the name that go build gives to the binary of a package.
func builtName(pkg string) string {
	if base := path.Base(pkg); majorVersion.MatchString(base) {
		return path.Base(path.Dir(pkg))
	}
	return path.Base(pkg)
}
