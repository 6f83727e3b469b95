// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kubectl-etcd/kubectl-etcd/"

// graph is the graph of ARCHITECTURE.md. It lists each package of the root module with the
// packages of this module that it may import. policy/... is policy with all rules, and
// internal/operate/... is all changes. Programs depend on rules, and rules never depend on
// programs. Admission and the controllers don't import each other. The folders of the verbs are
// not listed: see libraries.
var graph = map[string][]string{
	"policy":                     nil,
	"policy/budget":              {"policy"},
	"policy/drain":               {"policy", "policy/eviction"},
	"policy/eviction":            {"policy"},
	"policy/growth":              {"policy", "policy/restart"},
	"policy/spread":              {"policy"},
	"policy/membership":          {"policy"},
	"policy/maintenance":         {"policy"},
	"policy/recovery":            {"policy"},
	"policy/restart":             {"policy"},
	"policy/scale":               {"policy"},
	"policy/rollout":             {"policy"},
	"policy/sweep":               {"policy"},
	"policy/internal/policytest": {"policy"},
	"internal/reasons":           {"policy/..."},
	"api/v1alpha1":               nil,
	"api/output/v1alpha1":        nil,

	"internal/etcdconf":              {"internal/etcdconf/containers", "internal/etcdconf/memberchange", "internal/etcdconf/script", "api/v1alpha1"},
	"internal/etcdconf/memberchange": {"internal/etcdconf/script"},
	"internal/etcdconf/script":       nil,
	"internal/etcdconf/containers":   nil,
	"internal/flavour":               {"internal/etcdconf/containers"},
	"internal/observe": {
		"internal/etcdconf/containers", "internal/observe/owner", "internal/observe/podfiles", "internal/observe/podstate", "internal/observe/annotation", "internal/observe/leaseclock", "internal/observe/source",
		"internal/reasons", "internal/etcdconf", "internal/flavour", "api/v1alpha1", "policy/...",
	},
	"internal/observe/topologypolicy": {
		"internal/observe", "internal/observe/owner", "api/v1alpha1", "policy/...",
	},
	"internal/observe/backupstore":    {"internal/observe", "internal/observe/owner", "internal/observe/podfiles"},
	"internal/observe/memberservices": {"internal/etcdconf", "internal/observe", "internal/observe/owner", "internal/observe/podfiles", "api/v1alpha1", "policy/restart"},
	"internal/observe/resolve":        {"internal/etcdconf/containers", "internal/observe", "internal/observe/owner", "internal/observe/podfiles", "internal/etcdconf", "api/v1alpha1", "policy"},
	"internal/observe/rollouts":       {"internal/observe", "internal/observe/annotation", "internal/observe/owner", "internal/observe/podstate", "internal/etcdconf", "internal/flavour", "api/v1alpha1", "policy", "policy/rollout"},
	"internal/observe/annotation":     {"internal/reasons", "api/v1alpha1", "policy/..."},
	"internal/observe/leaseclock":     nil,
	"internal/observe/source":         {"internal/observe/annotation", "internal/etcdconf/containers", "internal/etcdconf", "internal/flavour", "api/v1alpha1"},
	"internal/observe/owner":          {"internal/observe/annotation", "internal/observe/source", "internal/etcdconf", "internal/flavour", "internal/format", "api/v1alpha1", "policy"},
	"internal/observe/peers":          {"internal/etcdconf/containers", "internal/observe", "internal/observe/memberservices", "internal/observe/owner", "internal/observe/podfiles", "internal/etcdconf", "internal/flavour"},
	"internal/observe/podfiles":       {"internal/etcdconf"},
	"internal/observe/podstate":       {"internal/etcdconf/containers", "internal/format", "policy"},
	"internal/observe/terms":          {"internal/observe/annotation", "internal/observe/owner", "policy/spread"},
	"internal/observe/scheduling":     {"internal/observe", "internal/observe/annotation", "internal/observe/owner", "internal/observe/terms", "internal/etcdconf", "policy", "policy/spread"},
	"internal/observe/observetest":    nil,
	"internal/pdb":                    {"internal/observe", "internal/observe/annotation", "api/v1alpha1", "policy/..."},
	"internal/snapshot":               nil,
	"internal/snapshot/trial":         {"internal/snapshot", "policy"},
	"internal/blob":                   {"internal/snapshot"},
	"internal/blob/blobtest":          nil,
	"internal/etcd/tunnel":            nil,
	"internal/etcd/proxy":             {"internal/etcd", "internal/observe/owner"},
	"internal/etcd/access":            {"internal/etcdconf", "internal/flavour", "internal/format", "internal/observe", "internal/observe/memberservices", "internal/observe/owner", "internal/observe/podfiles"},
	"internal/etcd":                   {"internal/etcd/access", "internal/etcd/tunnel", "internal/snapshot", "internal/etcdconf", "internal/format", "internal/observe", "internal/observe/owner", "internal/observe/peers", "internal/observe/podstate", "policy"},
	"internal/health": {
		"internal/etcdconf/containers", "internal/reasons", "internal/etcd", "internal/etcd/access", "internal/etcdconf", "internal/flavour", "internal/format", "internal/observe", "internal/observe/rollouts", "internal/observe/owner", "internal/observe/memberservices", "internal/observe/peers", "internal/observe/podstate", "internal/observe/topologypolicy", "internal/observe/annotation",
		"api/output/v1alpha1", "api/v1alpha1", "policy/...",
	},
	"internal/health/gather": {
		"internal/health", "internal/operate/membership", "internal/operate/membership/etcdlog", "internal/operate/membership/memberlist", "internal/operate/restore", "internal/operate/restore/progress", "internal/etcd", "internal/etcdconf", "internal/observe", "internal/observe/memberservices", "internal/observe/resolve", "internal/observe/owner", "internal/observe/peers", "internal/observe/podfiles", "internal/observe/rollouts", "internal/observe/scheduling", "internal/observe/source", "internal/observe/topologypolicy", "webhook/entries",
		"api/output/v1alpha1", "policy/...",
	},
	"internal/health/view": {
		"internal/etcdconf/containers", "internal/health", "internal/etcd", "internal/flavour", "internal/format", "internal/observe/owner", "internal/observe/podstate", "internal/observe/terms", "internal/observe/topologypolicy", "internal/reasons",
		"api/output/v1alpha1", "api/v1alpha1", "policy/...",
	},

	"internal/operate": {"internal/observe/owner", "internal/format", "policy/..."},
	"internal/operate/drain": {
		"internal/operate", "internal/observe", "internal/observe/resolve", "internal/observe/owner", "internal/observe/podfiles", "internal/observe/podstate",
		"internal/observe/scheduling", "internal/observe/source", "internal/observe/terms", "api/output/v1alpha1", "policy/...",
	},
	"internal/operate/drain/kubectl": {"internal/format"},
	"internal/operate/hosts":         {"internal/observe/scheduling", "internal/observe/terms", "policy/..."},
	"internal/operate/lock":          {"internal/observe/owner", "internal/operate", "internal/format", "policy"},
	"internal/operate/journal":       {"internal/observe/owner", "internal/format", "api/v1alpha1"},
	"internal/operate/maintenance":   {"internal/operate", "internal/etcd", "policy/..."},
	"internal/operate/membership": {
		"internal/etcdconf/containers", "internal/operate", "internal/operate/journal", "internal/operate/membership/etcdlog", "internal/operate/membership/memberlist", "internal/operate/step", "internal/operate/lock", "internal/operate/maintenance", "internal/operate/restart", "internal/operate/restore/progress",
		"internal/etcd", "internal/etcd/access", "internal/etcd/tunnel", "internal/etcdconf", "internal/flavour", "internal/format", "internal/observe", "internal/observe/memberservices", "internal/observe/rollouts", "internal/observe/owner", "internal/observe/peers", "internal/observe/podfiles", "internal/observe/podstate", "internal/observe/scheduling", "internal/observe/terms", "internal/snapshot", "api/v1alpha1", "policy/...",
	},
	"internal/operate/membership/etcdlog": {"internal/observe/podstate"},
	"internal/operate/membership/memberlist": {
		"internal/operate", "internal/operate/maintenance", "internal/etcd", "internal/flavour", "internal/observe", "internal/observe/owner", "internal/observe/peers", "policy/...",
	},
	"internal/operate/restart": {
		"internal/etcdconf/containers", "internal/operate/membership/memberlist", "internal/operate", "internal/operate/hosts", "internal/operate/journal", "internal/operate/lock", "internal/operate/maintenance", "internal/operate/traffic",
		"internal/etcd", "internal/etcd/access", "internal/etcd/tunnel", "internal/etcdconf",
		"internal/flavour", "internal/format", "internal/observe", "internal/observe/owner", "internal/observe/podfiles", "internal/observe/podstate", "internal/observe/rollouts", "internal/observe/scheduling", "api/v1alpha1", "policy/...",
	},
	"internal/operate/growth": {
		"api/v1alpha1",
		"internal/operate", "internal/operate/restart", "internal/etcd", "internal/etcdconf", "internal/flavour", "internal/format",
		"internal/observe/owner", "internal/observe/podfiles", "policy/...",
	},
	"internal/operate/step":   {"internal/operate", "internal/observe/podstate", "internal/observe/scheduling", "internal/format", "internal/snapshot", "api/v1alpha1", "policy"},
	"internal/operate/backup": {"internal/format", "internal/operate", "internal/blob", "internal/snapshot", "api/output/v1alpha1", "internal/etcd", "internal/etcd/access", "internal/etcd/tunnel", "internal/flavour", "internal/observe", "internal/observe/backupstore", "internal/observe/owner", "policy"},
	"internal/operate/backup/stored": {
		"internal/operate/backup", "internal/operate/schedule", "internal/blob", "internal/snapshot", "internal/flavour", "internal/observe/backupstore", "internal/observe/owner", "api/output/v1alpha1", "policy",
	},
	"internal/operate/schedule": {"internal/operate", "internal/operate/lock", "internal/blob", "internal/flavour", "internal/format", "internal/observe/owner", "api/v1alpha1", "policy"},
	"internal/operate/traffic": {
		"internal/etcdconf/containers", "internal/operate", "internal/operate/lock", "internal/etcd", "internal/etcdconf", "internal/format", "internal/kubeclient", "internal/observe", "internal/observe/memberservices", "internal/observe/owner", "internal/observe/podfiles", "internal/reasons", "api/v1alpha1", "policy/...",
	},
	"internal/operate/restore": {
		"internal/etcdconf/containers", "internal/operate", "internal/operate/hosts", "internal/operate/journal", "internal/operate/restore/progress", "internal/operate/step", "internal/operate/traffic",
		"internal/etcd", "internal/snapshot", "internal/etcdconf", "internal/flavour", "internal/format", "internal/observe", "internal/observe/backupstore", "internal/observe/memberservices", "internal/observe/annotation", "internal/observe/owner", "internal/observe/podfiles", "internal/observe/podstate", "internal/observe/scheduling",
		"api/v1alpha1", "policy/...",
	},
	"internal/operate/restore/progress": {
		"internal/operate", "internal/operate/journal", "internal/operate/step", "internal/operate/traffic", "internal/format", "internal/observe/owner", "internal/snapshot", "api/v1alpha1",
	},
	"internal/operate/restore/survivor": {
		"internal/operate", "internal/operate/restore/progress", "internal/etcd", "internal/format",
		"internal/observe", "internal/observe/backupstore", "internal/observe/owner", "internal/snapshot", "policy", "policy/recovery",
	},
	"internal/operate/restore/volume": {
		"internal/operate", "internal/operate/backup", "internal/operate/restore", "internal/operate/step", "internal/etcd", "internal/snapshot", "internal/snapshot/trial", "internal/observe/owner",
	},
	"internal/operate/restore/olddata": {
		"internal/operate", "internal/operate/journal", "internal/operate/membership", "internal/operate/restore", "internal/operate/step",
		"internal/etcd", "internal/format", "internal/observe", "internal/observe/annotation", "internal/observe/owner", "api/v1alpha1", "policy/...",
	},
	"internal/operate/sweep": {
		"internal/operate", "internal/operate/restore", "internal/operate/restore/olddata", "internal/operate/restore/progress", "internal/operate/journal", "internal/operate/lock", "internal/operate/membership", "internal/operate/traffic", "internal/etcd", "internal/format",
		"internal/observe", "internal/observe/memberservices", "internal/observe/rollouts", "internal/observe/annotation", "internal/observe/owner", "internal/observe/resolve", "internal/observe/source", "internal/observe/topologypolicy", "api/output/v1alpha1", "api/v1alpha1", "policy/...",
	},
	"internal/operate/operatetest": {"internal/apitest", "internal/etcdtest"},
	"internal/install": {
		"internal/operate", "internal/etcd/tunnel", "internal/observe", "internal/observe/owner", "internal/observe/podstate", "internal/observe/scheduling", "internal/observe/terms", "internal/observe/topologypolicy",
		"internal/observe/annotation", "internal/observe/leaseclock", "internal/reasons", "internal/apiserver", "internal/format", "internal/kubeclient", "internal/version", "webhook/entries", "api/output/v1alpha1", "api/v1alpha1", "policy/...",
	},
	"internal/install/uninstall": {
		"internal/operate", "internal/operate/lock", "internal/operate/traffic", "internal/pdb", "internal/observe", "internal/observe/memberservices", "internal/observe/rollouts", "internal/observe/annotation", "internal/observe/owner", "webhook/entries", "api/v1alpha1", "policy/...",
	},

	"webhook":         {"webhook/entries", "internal/etcdconf", "internal/format", "internal/observe", "internal/observe/rollouts", "internal/observe/owner", "internal/observe/scheduling", "internal/observe/terms", "internal/observe/topologypolicy", "internal/observe/annotation", "internal/observe/source", "internal/reasons", "api/v1alpha1", "policy/..."},
	"webhook/entries": nil,
	"controller": {
		"controller/budget", "controller/restart", "controller/rollout", "controller/topology", "controller/traffic", "controller/unschedulable", "controller/internal/memberhealth", "controller/internal/watch", "internal/observe",
	},
	"controller/budget": {
		"controller/internal/...", "internal/pdb", "internal/scrape", "internal/observe", "internal/observe/owner", "internal/observe/podstate", "internal/observe/topologypolicy", "internal/observe/annotation", "internal/reasons", "api/v1alpha1", "policy/...",
	},
	"controller/restart": {
		"controller/internal/...", "internal/observe", "internal/observe/rollouts", "internal/observe/owner", "internal/observe/annotation", "api/v1alpha1", "policy/...",
	},
	"controller/rollout": {
		"controller/internal/...", "internal/scrape", "internal/observe", "internal/observe/rollouts", "internal/observe/owner", "internal/observe/topologypolicy", "internal/reasons", "api/v1alpha1", "policy/...",
	},
	"controller/topology": {
		"controller/budget", "controller/internal/...", "internal/format", "internal/scrape", "internal/observe", "internal/observe/owner", "internal/observe/scheduling", "internal/observe/topologypolicy", "internal/observe/terms", "internal/reasons", "api/v1alpha1", "policy/...",
	},
	"controller/traffic": {
		"controller/internal/...", "internal/format", "internal/scrape", "internal/observe", "internal/observe/memberservices", "internal/reasons", "api/v1alpha1", "policy",
	},
	"controller/unschedulable": {
		"controller/internal/...", "internal/observe", "internal/observe/owner", "internal/observe/scheduling", "internal/observe/topologypolicy", "internal/observe/annotation", "internal/observe/terms", "internal/reasons", "api/v1alpha1", "policy/...",
	},
	"controller/internal/announce":       {"controller/internal/memory", "internal/format", "internal/observe/owner", "policy"},
	"controller/internal/memberhealth":   {"internal/etcdconf", "internal/observe"},
	"controller/internal/memory":         nil,
	"controller/internal/queue":          {"internal/observe/owner"},
	"controller/internal/watch":          {"internal/observe/owner", "api/v1alpha1"},
	"controller/internal/write":          {"controller/internal/memory"},
	"controller/internal/controllertest": {"internal/observe", "internal/observe/annotation", "internal/observe/observetest", "internal/observe/source", "internal/reasons", "api/v1alpha1"},

	"internal/apiserver":   nil,
	"internal/podexec":     nil,
	"internal/certificate": {"internal/apiserver", "internal/format", "internal/scrape", "policy"},
	"internal/format":      nil,
	"internal/kubeclient":  {"internal/observe", "api/v1alpha1"},
	"internal/scrape":      nil,
	"internal/version":     nil,
	"internal/apitest":     {"internal/kubeclient"},
	"internal/certtest":    nil,
	"internal/etcdtest":    nil,
	"internal/scripttest":  nil,
	"docs":                 nil,
	"krew":                 nil,
	"manifests":            nil,

	"internal/cli/ui": {"internal/format", "api/output/v1alpha1", "policy"},
	"internal/cli/render": {
		"internal/cli/ui", "internal/format", "internal/health", "internal/health/view", "internal/install", "internal/reasons", "webhook/entries", "api/output/v1alpha1", "api/v1alpha1", "policy", "policy/recovery", "policy/sweep",
	},
	"internal/cli/app": {
		"internal/format", "internal/health/gather",
		"internal/cli/ui", "internal/kubeclient", "internal/operate/...", "internal/etcd", "internal/etcd/access", "internal/etcd/tunnel", "internal/observe", "internal/observe/resolve", "internal/observe/owner", "internal/observe/podfiles",
		"internal/observe/leaseclock", "internal/snapshot", "internal/version", "api/output/v1alpha1", "policy",
	},
	"internal/cli/change": {
		"internal/cli/app", "internal/cli/ui", "internal/operate/...", "internal/etcd", "internal/etcd/tunnel",
		"internal/podexec", "internal/snapshot", "api/output/v1alpha1", "policy/...",
	},
	"internal/cli/change/restoring": {
		"internal/cli/app", "internal/cli/change", "internal/operate/...", "internal/etcd", "internal/format", "internal/health", "internal/podexec", "internal/reasons", "internal/snapshot", "api/output/v1alpha1", "policy/...",
	},
	"cmd/kubectl-etcd": {"internal/cli"},
	"cmd/etcd-webhook": {
		"webhook", "controller", "internal/certificate", "internal/apiserver", "internal/format", "internal/scrape", "internal/version",
		"internal/observe", "internal/observe/leaseclock", "internal/observe/source", "api/v1alpha1",
	},
}

// verbs is the folder with the verbs of the plugin. A verb may import the libraries and the
// shared packages of the command line, but never another verb. Only the root imports verbs.
const verbs = "internal/cli"

var shared = []string{"internal/cli/app", "internal/cli/change", "internal/cli/change/restoring", "internal/cli/render", "internal/cli/ui"}

var libraries = []string{
	"internal/health", "internal/health/...", "internal/install", "internal/install/uninstall", "internal/operate/...", "internal/snapshot", "internal/snapshot/trial", "internal/etcd", "internal/etcd/proxy", "internal/etcd/tunnel", "internal/etcdconf",
	"internal/observe", "internal/observe/owner", "internal/observe/memberservices", "internal/kubeclient", "internal/format", "internal/podexec", "internal/reasons", "internal/version",
	"api/output/v1alpha1", "api/v1alpha1", "policy/...",
}

// mayImport returns the packages of this module that a package may import, and whether the
// package is known.
func mayImport(from string) ([]string, bool) {
	if may, known := graph[from]; known {
		return may, true
	}
	switch {
	case from == verbs:
		return append([]string{verbs + "/*"}, libraries...), true
	case path.Dir(from) == verbs:
		return slices.Concat(shared, libraries), true
	}
	return nil, false
}

const (
	commandLine = "github.com/spf13/"
	printers    = "k8s.io/cli-runtime"
	runtime     = "sigs.k8s.io/controller-runtime"
	etcd        = "go.etcd.io/"
)

// foreign lists the other modules that a package must not depend on, directly or indirectly.
// Admission connects to no member. The controller only asks members for their health, by plain HTTP, so neither needs a
// client of etcd. Packages that change or evaluate a cluster don't
// depend on the command line, except internal/operate/drain/kubectl: the code of kubectl drain brings that of kubectl.
var foreign = map[string][]string{
	"policy":                          nil,
	"internal/reasons":                {"k8s.io/", "sigs.k8s.io/", etcd, "github.com/", "golang.org/", "net/http"},
	"api/v1alpha1":                    {etcd, commandLine, printers},
	"api/output/v1alpha1":             {etcd, commandLine, printers, runtime},
	"internal/etcdconf":               {etcd, commandLine, printers, runtime, "k8s.io/client-go", "github.com/gardener/"},
	"internal/etcdconf/script":        {"k8s.io/", "sigs.k8s.io/", etcd, commandLine, "github.com/gardener/"},
	"internal/flavour":                {etcd, commandLine, printers, runtime, "k8s.io/client-go", "github.com/gardener/"},
	"internal/observe":                {commandLine, printers},
	"internal/observe/annotation":     {etcd, commandLine, printers, runtime, "k8s.io/client-go", "github.com/gardener/"},
	"internal/observe/leaseclock":     {etcd, commandLine, printers, "github.com/gardener/"},
	"internal/observe/owner":          {commandLine, printers},
	"internal/observe/peers":          {commandLine, printers},
	"internal/observe/podfiles":       {commandLine, printers},
	"internal/observe/podstate":       {etcd, commandLine, printers, runtime},
	"internal/observe/scheduling":     {commandLine, printers},
	"internal/observe/source":         {commandLine, printers},
	"internal/observe/backupstore":    {commandLine, printers},
	"internal/observe/memberservices": {commandLine, printers},
	"internal/observe/resolve":        {commandLine, printers},
	"internal/observe/rollouts":       {commandLine, printers},
	"internal/observe/terms":          {commandLine, printers},
	"internal/pdb":                    {etcd, commandLine, printers},
	"internal/etcd":                   {commandLine, printers},
	"internal/etcd/proxy":             {commandLine, printers},
	"internal/etcd/access":            {etcd, "google.golang.org/grpc", commandLine, printers},
	"internal/blob":                   {"k8s.io/", "sigs.k8s.io/", commandLine},
	"internal/snapshot":               {"k8s.io/", "sigs.k8s.io/", commandLine},
	"internal/snapshot/trial":         {"k8s.io/", "sigs.k8s.io/", commandLine},
	"internal/operate":                {commandLine, printers},
	"internal/operate/backup":         {commandLine, printers},
	"internal/operate/drain":          {commandLine, printers},
	"internal/operate/growth":         {commandLine, printers},
	"internal/operate/hosts":          {commandLine, printers},
	"internal/operate/lock":           {etcd, commandLine, printers},
	"internal/operate/journal":        {etcd, commandLine, printers},
	"internal/operate/maintenance":    {commandLine, printers},
	"internal/operate/membership":     {commandLine, printers},
	"internal/operate/restart":        {commandLine, printers},
	"internal/operate/restore":        {commandLine, printers},
	"internal/operate/membership/etcdlog": {
		etcd, commandLine, printers, runtime,
	},
	"internal/operate/membership/memberlist": {
		commandLine, printers,
	},
	"internal/operate/restore/progress": {
		commandLine, printers,
	},
	"internal/operate/restore/olddata": {
		commandLine, printers,
	},
	"internal/operate/restore/survivor": {
		commandLine, printers,
	},
	"internal/operate/restore/volume": {
		commandLine, printers,
	},
	"internal/operate/backup/stored": {
		commandLine, printers,
	},
	"internal/operate/schedule":  {commandLine, printers},
	"internal/operate/step":      {commandLine, printers},
	"internal/operate/sweep":     {commandLine, printers},
	"internal/operate/traffic":   {commandLine, printers},
	"internal/install":           {commandLine, printers},
	"internal/install/uninstall": {commandLine, printers},
	"internal/health":            {commandLine, printers},
	"internal/health/gather":     {commandLine, printers},
	"internal/health/view":       {commandLine, printers},
	"internal/apiserver":         {etcd, commandLine, printers, runtime},
	"internal/scrape":            {etcd, commandLine, printers},
	"internal/version":           {"k8s.io/", "sigs.k8s.io/", etcd, "github.com/", "golang.org/"},
	"webhook":                    {etcd, printers},
	"webhook/entries":            {etcd, commandLine, printers, runtime},
	"controller":                 {etcd, printers},
	"krew":                       {"k8s.io/", "sigs.k8s.io/", etcd, "github.com/", "golang.org/"},
	"manifests":                  {etcd, commandLine, printers, runtime},
	"internal/observe/topologypolicy": {
		commandLine, printers,
	},
}

// pure lists the standard packages that policy may import. None of them blocks, reads a clock or
// does I/O.
var pure = []string{"cmp", "errors", "fmt", "maps", "slices", "sort", "strconv", "strings", "time"}

// TestGraph compares all imports of this module with the graph. Every package must be in the
// graph, and use each of its permissions.
func TestGraph(t *testing.T) {
	packages := listDeps(t)
	for name, imports := range packages {
		from, ours := strings.CutPrefix(name, module)
		if !ours {
			continue
		}
		may, known := mayImport(from)
		if !known {
			t.Errorf("%s isn't in the graph: add it, with the packages that it may import, to the graph and to ARCHITECTURE.md", from)
		}
		for _, i := range imports {
			if to, ours := strings.CutPrefix(i, module); ours && !allows(may, to) {
				t.Errorf("%s must not import %s", from, to)
			}
		}
	}
	for from, may := range graph {
		imports, there := packages[module+from]
		if !there {
			t.Errorf("there is no package %s: is the graph out of date?", from)
		}
		for _, pattern := range may {
			if !slices.ContainsFunc(imports, func(i string) bool { return allows([]string{pattern}, strings.TrimPrefix(i, module)) }) {
				t.Errorf("%s does not import %s: delete that from the graph in this file", from, pattern)
			}
		}
	}
}

// allows reports whether one of the patterns matches a package. path/... matches a package and
// all packages below it, and path/* matches the packages directly below it.
func allows(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if base, all := strings.CutSuffix(pattern, "/..."); all {
			return pkg == base || strings.HasPrefix(pkg, base+"/")
		}
		base, each := strings.CutSuffix(pattern, "/*")
		return pkg == pattern || each && path.Dir(pkg) == base
	})
}

func TestForeignDependencies(t *testing.T) {
	packages := listDeps(t)
	for from, banned := range foreign {
		start := module + from
		for _, to := range reach(packages, start) {
			own := strings.HasPrefix(to, module)
			if !own && slices.ContainsFunc(banned, func(b string) bool { return strings.HasPrefix(to, b) }) {
				t.Errorf("%s must not depend on %s:\n\t%s", from, to, strings.Join(chain(packages, start, to), "\n\t-> "))
			}
		}
	}
}

func TestPolicyIsPure(t *testing.T) {
	rules := 0
	for name, imports := range listDeps(t) {
		from, ours := strings.CutPrefix(name, module)
		if !ours || from != "policy" && !strings.HasPrefix(from, "policy/") || from == "policy/internal/policytest" {
			continue
		}
		rules++
		for _, i := range imports {
			if !slices.Contains(pure, i) && !strings.HasPrefix(i, module+"policy") {
				t.Errorf("%s imports %s; it may import only %s", from, i, strings.Join(pure, ", "))
			}
		}
	}
	if rules < 2 {
		t.Errorf("found only %d packages of policy", rules)
	}
}

// TestRootModuleHasNoReplace checks that `go install …/cmd/kubectl-etcd@latest` works.
func TestRootModuleHasNoReplace(t *testing.T) {
	out, err := goTool("mod", "edit", "-json")
	if err != nil {
		t.Fatal(err)
	}
	var mod struct{ Replace []any }
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	if len(mod.Replace) > 0 {
		t.Errorf("the root go.mod has %d replace directives, with which go install refuses the module", len(mod.Replace))
	}
}

func goTool(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out, errors.New(string(exit.Stderr))
	}
	return out, err
}

// listDeps returns the imports of every package that the root module reaches.
func listDeps(t *testing.T) map[string][]string {
	t.Helper()
	out, err := goTool("list", "-deps", "-json=ImportPath,Imports", "./...")
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p.Imports
	}
}

func reach(packages map[string][]string, from string) []string {
	seen := []string{from}
	for i := 0; i < len(seen); i++ {
		for _, to := range packages[seen[i]] {
			if !slices.Contains(seen, to) {
				seen = append(seen, to)
			}
		}
	}
	return seen
}

// chain returns one shortest path of imports, so that the message shows which package has the
// import.
func chain(packages map[string][]string, from, to string) []string {
	type step struct {
		pkg  string
		path []string
	}
	queue, seen := []step{{from, []string{from}}}, map[string]bool{from: true}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s.pkg == to {
			return s.path
		}
		for _, next := range packages[s.pkg] {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, step{next, append(slices.Clone(s.path), next)})
			}
		}
	}
	return nil
}
