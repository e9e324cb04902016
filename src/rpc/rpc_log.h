/* gRPC's own words go to our log: its errors as warnings, the rest as debug. Once, at any time. */
#ifndef RPC_RPC_LOG_H
#define RPC_RPC_LOG_H

void rpc_log_init(void);

#endif
