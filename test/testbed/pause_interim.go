// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/crane"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func (t *Testbed) pushPause(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "pause")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	src := "package main\nimport (\"os\";\"os/signal\";\"syscall\")\nfunc main(){c:=make(chan os.Signal,1);signal.Notify(c,syscall.SIGTERM,syscall.SIGINT);<-c}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(src), 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", "pause", "main.go")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	bin, err := os.ReadFile(filepath.Join(dir, "pause"))
	if err != nil {
		return err
	}
	layer, err := crane.Layer(map[string][]byte{"pause": bin})
	if err != nil {
		return err
	}
	img, err := crane.Image(nil)
	if err != nil {
		return err
	}
	img, err = mutate.AppendLayers(img, layer)
	if err != nil {
		return err
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return err
	}
	cf.Config.Entrypoint = []string{"/pause"}
	cf.Architecture, cf.OS = "amd64", "linux"
	img, err = mutate.ConfigFile(img, cf)
	if err != nil {
		return err
	}
	return t.PushImage(ctx, pauseImage, img)
}
