// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package snapshot

import "os"

// startWriting does nothing where the system has no such call.
func startWriting(*os.File, int64, int64) {}
