// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// Defaults of Options.
const (
	DefaultName     = "kubectl-etcd"
	DefaultNodes    = 6
	DefaultZones    = 3
	DefaultStateDir = "/var/lib/kubectl-etcd-testbed"
)

const (
	maxNodes = 100 // an address each in one /24
	// maxSocketPath is the longest path that a Unix socket can have.
	maxSocketPath = 107
)

// Options select a testbed and describe it. The zero
// value is the default testbed.
type Options struct {
	Name  string // DefaultName when empty
	Nodes int    // DefaultNodes when 0
	Zones int    // DefaultZones when 0, but not more than Nodes
	// StateDir holds the run directories of testbeds.
	StateDir string
	// Subnet is a /24 for the machines; when zero a free one of 10.89.0.0/16.
	Subnet netip.Prefix
	Cache  programs.Cache
	// Log receives what Up and Down do. It may be nil.
	Log io.Writer
}

var validName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)

// complete fills in the defaults and checks what was given.
func (o Options) complete() (Options, error) {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if o.Nodes == 0 {
		o.Nodes = DefaultNodes
	}
	if o.Zones == 0 {
		o.Zones = min(DefaultZones, o.Nodes)
	}
	if o.StateDir == "" {
		o.StateDir = DefaultStateDir
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	dir, err := filepath.Abs(o.StateDir)
	if err != nil {
		return o, err
	}
	o.StateDir = dir
	return o, o.validate()
}

func (o Options) validate() error {
	switch {
	case !validName.MatchString(o.Name):
		return fmt.Errorf("name %q: use up to 40 lower-case letters, digits and dashes", o.Name)
	case o.Nodes < 1 || o.Nodes > maxNodes:
		return fmt.Errorf("%d nodes: from 1 to %d are possible", o.Nodes, maxNodes)
	case o.Zones < 1 || o.Zones > o.Nodes || o.Zones > len(zoneLetters):
		return fmt.Errorf("%d zones for %d nodes: there must be a node for each zone, and at most %d zones", o.Zones, o.Nodes, len(zoneLetters))
	case o.Subnet.IsValid() && (!o.Subnet.Addr().Is4() || o.Subnet.Bits() != 24):
		return fmt.Errorf("subnet %s: a /24 of IPv4 is needed", o.Subnet)
	}
	if path := filepath.Join(o.dir(), "machines", controlPlane, "control.sock"); len(path) > maxSocketPath {
		return fmt.Errorf("state directory %s: its path is too long, sockets in it would pass %d characters", o.StateDir, maxSocketPath)
	}
	return nil
}

func (o Options) dir() string { return filepath.Join(o.StateDir, o.Name) }

// requireRoot comes before any other check: a user who has to start over with sudo
// needs no other message.
func requireRoot() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("run as root: a testbed makes network namespaces, mounts and cgroups (this is user %d)", os.Geteuid())
	}
	return nil
}
