// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// key names what the group's build would make now: equal keys, equal programs.
// The sources may have to be downloaded for it, which is written to progress.
func (g group) key(ctx context.Context, tree checkout, progress io.Writer) (string, error) {
	sum := sha256.New()
	dir := tree.module(g.dir)
	if err := goCommand(ctx, dir, sum, io.Discard, "env", "GOVERSION", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT"); err != nil {
		return "", fmt.Errorf("ask for the Go version in %s: %w", dir, err)
	}
	fmt.Fprintf(sum, "%q %q\n", g.flags(), g.programs)
	var err error
	if g.own() {
		err = hashSources(ctx, sum, dir, g.packages(), &downloads{progress: progress, title: g.title()})
	} else {
		// Every source file is pinned by these two.
		err = errors.Join(hashFile(sum, "go.mod", filepath.Join(dir, "go.mod")), hashFile(sum, "go.sum", filepath.Join(dir, "go.sum")))
	}
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:12]), nil
}

// source is go list's output for one package of a program.
type source struct {
	ImportPath, Dir, DefaultGODEBUG    string
	Standard                           bool
	GoFiles, SFiles, HFiles, SysoFiles []string
	EmbedFiles                         []string
	Module                             *sourceModule
}

// sourceModule is the module of a package, and what stands in for it.
type sourceModule struct {
	Path, Version, GoVersion, Sum string
	Replace                       *sourceModule
}

// hashSources adds to sum every file of ours that the packages are made of, and
// the version and checksum of every other module that they take a package from:
// a change elsewhere in the tree or in go.mod leaves the sum as it is.
func hashSources(ctx context.Context, sum hash.Hash, dir string, packages []string, texts *downloads) error {
	var list bytes.Buffer
	fields := "-json=ImportPath,Dir,DefaultGODEBUG,Standard,GoFiles,SFiles,HFiles,SysoFiles,EmbedFiles,Module"
	if err := goCommand(ctx, dir, &list, texts, append([]string{"list", "-deps", fields}, packages...)...); err != nil {
		return fmt.Errorf("list the sources of %q in module %s: %w\n%s", packages, dir, err, bytes.TrimSpace(texts.printed.Bytes()))
	}
	for packages := json.NewDecoder(&list); ; {
		var s source
		if err := packages.Decode(&s); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("list the sources of %s: %w", dir, err)
		}
		if err := s.hash(sum); err != nil {
			return err
		}
	}
}

// hash adds one package to sum.
func (s source) hash(sum hash.Hash) error {
	if s.Standard || s.Module == nil {
		return nil // the Go version stands for it
	}
	module := s.Module
	if module.Replace != nil {
		module = module.Replace
	}
	fmt.Fprintf(sum, "%s %s %s %s\n", s.ImportPath, module.Version, module.Sum, s.DefaultGODEBUG)
	if module.Version != "" {
		return nil
	}
	fmt.Fprintf(sum, "go %s\n", s.Module.GoVersion)
	for _, files := range [][]string{s.GoFiles, s.SFiles, s.HFiles, s.SysoFiles, s.EmbedFiles} {
		for _, file := range files {
			if err := hashFile(sum, file, filepath.Join(s.Dir, file)); err != nil {
				return err
			}
		}
	}
	return nil
}

// hashFile adds a file to sum under the name that it has in its package.
func hashFile(sum hash.Hash, name, path string) error {
	data, err := os.ReadFile(path) //nolint:gosec // a source file of this checkout
	if err != nil {
		return fmt.Errorf("read a source file: %w", err)
	}
	fmt.Fprintf(sum, "%s %d\n", name, len(data))
	_, _ = sum.Write(data) // a hash never fails
	return nil
}
