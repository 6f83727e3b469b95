// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// bedVariable is the environment variable with the name of the testbed, if it isn't the default
// one.
const bedVariable = "E2E_TESTBED"

// BenchmarkPluginVersion compares the start of the plugin with the start of kubectl. The ratios
// are of medians over alternating runs. Below 1, the plugin is faster.
func BenchmarkPluginVersion(b *testing.B) {
	p := benchPrograms(b)
	p.compare(b, []string{"version", "--client"}, []string{"version", "--client"}, nil)
}

// BenchmarkPluginList compares a list of all etcd clusters with a list of the StatefulSets.
func BenchmarkPluginList(b *testing.B) {
	p := benchPrograms(b)
	name := os.Getenv(bedVariable)
	if name == "" {
		name = testbed.DefaultName
	}
	bed, err := testbed.Attach(b.Context(), testbed.Options{Name: name})
	if err != nil {
		b.Fatalf("this needs a running cluster: %v (%s names another)", err, bedVariable)
	}
	p.compare(b, []string{"list", "-A"}, []string{"get", "statefulsets", "-A"}, []string{"KUBECONFIG=" + bed.Kubeconfig()})
}

// BenchmarkPluginSize compares the sizes of the programs, which are built with the same flags.
func BenchmarkPluginSize(b *testing.B) {
	p := benchPrograms(b)
	for b.Loop() {
		b.ReportMetric(p.size(b, p.plugin)/p.size(b, p.kubectl), "plugin/kubectl")
	}
	b.ReportMetric(p.size(b, p.plugin)/1e6, "plugin-MB")
	b.ReportMetric(p.size(b, p.kubectl)/1e6, "kubectl-MB")
}

type benched struct{ plugin, kubectl string }

func benchPrograms(b *testing.B) benched {
	b.Helper()
	paths, err := programs.Ensure(b.Context(), programs.Cache{}, []string{"kubectl", "kubectl-etcd"}, os.Stderr)
	if err != nil {
		b.Fatalf("build kubectl and the plugin: %v", err)
	}
	return benched{plugin: paths["kubectl-etcd"], kubectl: paths["kubectl"]}
}

func (p benched) size(b *testing.B, path string) float64 {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return float64(info.Size())
}

// compare runs three command lines in turn: the plugin directly, the plugin through kubectl, and
// kubectl.
func (p benched) compare(b *testing.B, plugin, kubectl, env []string) {
	b.Helper()
	home := b.TempDir()
	if err := os.Symlink(p.plugin, filepath.Join(home, "kubectl-etcd")); err != nil {
		b.Fatal(err)
	}
	// kubectl caches what it discovers below HOME. The first round fills the cache.
	env = append(os.Environ(), append(env, "HOME="+home, "PATH="+home+string(filepath.ListSeparator)+os.Getenv("PATH"))...)
	lines := [][]string{
		append([]string{p.plugin}, plugin...),
		append([]string{p.kubectl, "etcd"}, plugin...),
		append([]string{p.kubectl}, kubectl...),
	}
	took := make([][]time.Duration, len(lines))
	round := func() {
		for i, line := range lines {
			began := time.Now()
			cmd := exec.CommandContext(b.Context(), line[0], line[1:]...)
			cmd.Env = env
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%s: %v\n%s", strings.Join(line[1:], " "), err, out)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	round()
	clear(took)
	for b.Loop() {
		round()
	}
	medians := make([]float64, len(took))
	for i, t := range took {
		slices.Sort(t)
		medians[i] = float64(t[len(t)/2])
		b.ReportMetric(medians[i]/1e6, fmt.Sprintf("%s-ms", []string{"plugin", "through-kubectl", "kubectl"}[i]))
	}
	b.ReportMetric(medians[0]/medians[2], "plugin/kubectl")
	b.ReportMetric(medians[1]/medians[2], "through-kubectl/kubectl")
	b.ReportMetric(0, "ns/op") // the time of a whole round has no meaning
}
