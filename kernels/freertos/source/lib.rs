// SPDX-License-Identifier: Apache-2.0
//! Empty: cargo wants a target before it fetches a dependency.
