// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// limitsDir is on the file system that a reboot empties, as it resets the
// limits themselves.
const limitsDir = "/run/kubectl-etcd-testbed"

// limits of the whole host that are too low for a cluster on it, and what they
// are raised to while any testbed is up. No namespace has its own. A node takes
// about ten inotify instances, a host gives 128 to root by default, and kubelet
// ends when it gets none.
var limits = map[string]int{
	"fs/inotify/max_user_instances": 8192,
	"fs/inotify/max_user_watches":   524288,
}

// raised remembers what the host's limits were, and which testbeds need them
// higher.
type raised struct {
	Users  []string       `json:"users"`
	Before map[string]int `json:"before"`
}

// raiseLimits raises the host's limits for a testbed.
func raiseLimits(ctx context.Context, name string) error {
	return changeLimits(ctx, func(r *raised) error {
		if !slices.Contains(r.Users, name) {
			r.Users = append(r.Users, name)
		}
		if r.Before == nil {
			r.Before = map[string]int{}
		}
		for key := range limits {
			if value, err := readLimit(key); err != nil {
				return err
			} else if _, ok := r.Before[key]; !ok && value < limits[key] {
				r.Before[key] = value
			}
		}
		// Remembered before anything changes.
		if err := r.save(); err != nil {
			return err
		}
		for key := range r.Before {
			if err := writeLimit(key, limits[key]); err != nil {
				return err
			}
		}
		return nil
	})
}

// restoreLimits gives the host its own limits back when no other testbed needs
// more.
func restoreLimits(ctx context.Context, name string) error {
	if _, err := os.Stat(limitsDir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return changeLimits(ctx, func(r *raised) error {
		r.Users = slices.DeleteFunc(r.Users, func(u string) bool { return u == name })
		if len(r.Users) > 0 {
			return r.save()
		}
		for key, before := range r.Before {
			// Another user may have set it meanwhile.
			if value, err := readLimit(key); err == nil && value == limits[key] {
				if err := writeLimit(key, before); err != nil {
					return err
				}
			}
		}
		return os.RemoveAll(limitsDir)
	})
}

func changeLimits(ctx context.Context, change func(*raised) error) error {
	unlock, err := lock(ctx, limitsDir)
	if err != nil {
		return fmt.Errorf("change the host's limits: %w", err)
	}
	defer unlock()
	var r raised
	if data, err := os.ReadFile(filepath.Join(limitsDir, "limits.json")); err == nil {
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("read what the host's limits were: %w", err)
		}
	}
	return change(&r)
}

func (r *raised) save() error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file := filepath.Join(limitsDir, "limits.json")
	if err := os.WriteFile(file+".part", data, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".part", file)
}

func readLimit(key string) (int, error) {
	data, err := os.ReadFile("/proc/sys/" + key)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}

func writeLimit(key string, value int) error {
	return os.WriteFile("/proc/sys/"+key, []byte(strconv.Itoa(value)), 0)
}
