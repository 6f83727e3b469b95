// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// checkout is the folder of the test module, below which the modules of the
// programs stand. They are built where they are, so a checkout is needed.
type checkout string

// module returns the folder of a module, given relative to the test module.
func (c checkout) module(dir string) string {
	return filepath.Join(string(c), filepath.FromSlash(dir))
}

// findCheckout returns the checkout that this program was compiled from. One
// compiled with -trimpath doesn't know it and has to run inside a checkout.
func findCheckout() (checkout, error) {
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		if tree := filepath.Dir(filepath.Dir(file)); holdsPrograms(tree) {
			return checkout(tree), nil
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the checkout of kubectl-etcd: %w", err)
	}
	for {
		for _, tree := range []string{dir, filepath.Join(dir, "test")} {
			if holdsPrograms(tree) {
				return checkout(tree), nil
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the programs of the testbed are built from sources: run this inside a checkout of kubectl-etcd")
		}
		dir = parent
	}
}

// holdsPrograms reports whether dir is the test module of a checkout.
func holdsPrograms(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "programs", "kubernetes", "go.mod"))
	return err == nil
}
