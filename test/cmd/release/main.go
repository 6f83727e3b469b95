// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Command release makes what is published of a version, into a folder. It runs in
// a checkout and publishes nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/kubectl-etcd/kubectl-etcd/test/release"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	o := release.Options{Progress: progress}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&o.Source, "source", "..", "the root of a checkout")
	flags.StringVar(&o.Out, "out", "../dist", "where everything is written; what is there goes")
	flags.StringVar(&o.Version, "version", "", "version of the programs; the default is git's description")
	flags.StringVar(&o.Download, "download", "", "address of the folder that krew finds the archives in; the version's release on GitHub where empty")
	if err := flags.Parse(args); err != nil {
		return err
	}
	made, err := release.Make(ctx, o)
	if err != nil {
		return err
	}
	return summarize(out, made)
}

// summarize prints what was made and how to try it on this machine.
func summarize(w io.Writer, r *release.Released) error {
	dir := filepath.Dir(r.Manifest)
	if _, err := fmt.Fprintf(w, `%s is in %s:
  %d archives of the plugin, each with its SBOM; %s has their checksums
  %s for krew
  %s, an OCI layout of etcd-webhook, %s
`, r.Version, dir, len(r.Archives), filepath.Base(r.Checksums), filepath.Base(r.Manifest), filepath.Base(r.Image), r.Digest); err != nil {
		return err
	}
	for _, a := range r.Archives {
		if a.OS != runtime.GOOS || a.Arch != runtime.GOARCH {
			continue
		}
		if _, err := fmt.Fprintf(w, "\nTo try the plugin by krew: kubectl krew install --manifest %s --archive %s\n",
			r.Manifest, filepath.Join(dir, filepath.Base(a.URI))); err != nil {
			return err
		}
	}
	return nil
}
