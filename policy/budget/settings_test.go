// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// settings are the defaults of an EtcdTopologyPolicy.
var settings = Settings{BackupHoldLimit: time.Hour, StaleLimit: 10 * time.Minute, Settle: time.Minute}

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
