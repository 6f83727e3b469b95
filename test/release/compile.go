// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// module is the root module's path.
const module = "github.com/kubectl-etcd/kubectl-etcd"

// program is one program for one platform.
type program struct {
	name     string // as a person types it
	platform Platform
	path     string
	info     *debug.BuildInfo
	version  string
	revision string
	date     time.Time // of the commit
}

// file returns the program's name on its platform.
func (p program) file() string {
	if p.platform.OS == "windows" {
		return p.name + ".exe"
	}
	return p.name
}

// title begins the names of what is made of the program.
func (p program) title() string {
	return strings.Join([]string{p.name, p.version, p.platform.OS, p.platform.Arch}, "_")
}

// compile builds a program for the platforms, one after the other: each takes
// every core.
func (o Options) compile(ctx context.Context, dir, name string, platforms []Platform) ([]program, error) {
	var programs []program
	for _, platform := range platforms {
		fmt.Fprintf(o.Progress, "building %s for %s\n", name, platform)
		p := program{name: name, platform: platform}
		p.path = filepath.Join(dir, platform.OS+"_"+platform.Arch, p.file())
		if err := o.build(ctx, p); err != nil {
			return nil, fmt.Errorf("build %s for %s: %w", name, platform, err)
		}
		if err := p.read(o.Version); err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// build compiles a program. Neither the folder, the machine nor its environment
// leave a trace in what comes out.
func (o Options) build(ctx context.Context, p program) error {
	ldflags := "-s -w -buildid="
	if o.Version != "" {
		ldflags += " -X " + module + "/internal/version.stamped=" + o.Version
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-mod=readonly", //nolint:gosec // the names are this package's
		"-ldflags="+ldflags, "-o", p.path, "./cmd/"+p.name)
	cmd.Dir = o.Source
	cmd.Env = os.Environ()
	if o.environment != nil {
		cmd.Env = append(cmd.Env, o.environment(p.platform)...)
	}
	kept, err := whence(ctx, cmd.Env)
	if err != nil {
		return err
	}
	cmd.Env = slices.Concat(cmd.Env, kept, []string{
		"CGO_ENABLED=0", "GOENV=off", "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off",
		"GOOS=" + p.platform.OS, "GOARCH=" + p.platform.Arch, "GOAMD64=v1", "GOARM64=v8.0",
	})
	var texts bytes.Buffer
	cmd.Stderr = &texts
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(texts.Bytes()))
	}
	return nil
}

// whence returns the settings of the go command for the locations of compilers, modules and the
// build cache. All else that a user set by go env -w is left behind.
func whence(ctx context.Context, environment []string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOAUTH", "GOCACHE", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "GOVCS")
	cmd.Env = environment
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var all map[string]string
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var kept []string
	for name, value := range all {
		kept = append(kept, name+"="+value)
	}
	return kept, nil
}

// read takes from the program what it was built from. What a person will see of
// the version comes from there, so it can't be another.
func (p *program) read(stamped string) error {
	var err error
	if p.info, err = buildinfo.ReadFile(p.path); err != nil {
		return err
	}
	p.version = p.info.Main.Version
	if stamped != "" {
		p.version = stamped
	}
	for _, s := range p.info.Settings {
		switch s.Key {
		case "vcs.revision":
			p.revision = s.Value
		case "vcs.time":
			if p.date, err = time.Parse(time.RFC3339, s.Value); err != nil {
				return fmt.Errorf("read when %s was committed: %w", p.path, err)
			}
		}
	}
	if p.revision == "" || p.date.IsZero() {
		return errors.New("the program doesn't contain its commit: make a release in a checkout with git")
	}
	return nil
}
