// A gRPC client that is not ours (@grpc/grpc-js) makes every call of cuzk.v1.ProvingEngine.
// client.mjs PROTO ADDRESS C1 OUT: writes the proofs that it was given as OUT/js-*.bin.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The modules lie where the test put them, not beside this file.
const require = createRequire(pathToFileURL(process.cwd() + "/"));
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const [proto, address, c1Path, out] = process.argv.slice(2);
const definition = loader.loadSync(proto, { keepCase: true, longs: String, enums: String, defaults: true });
const { ProvingEngine } = grpc.loadPackageDefinition(definition).cuzk.v1;
const limit = 256 << 20;
const client = new ProvingEngine(address, grpc.credentials.createInsecure(), {
  "grpc.max_send_message_length": limit,
  "grpc.max_receive_message_length": limit,
});
const c1 = readFileSync(c1Path);

const call = (method, request, seconds = 120) =>
  new Promise((resolve, reject) =>
    client[method](request, { deadline: Date.now() + 1000 * seconds }, (error, answer) =>
      error ? reject(error) : resolve(answer)));
const refused = async (code, text, promise) => {
  const error = await promise.then(() => null, (e) => e);
  assert(error, `a refusal with code ${code} was expected`);
  assert.equal(error.code, code, error.details);
  assert.match(error.details, text);
};
const submit = (more) => ({
  request_id: "js", proof_kind: "POREP_SEAL_COMMIT", vanilla_proof: c1, sector_number: 101, miner_id: 1000,
  priority: "NORMAL", ...more });

const preload = await call("PreloadSRS", { circuit_id: "porep-2k" });
console.log("preloaded:", preload);
assert.equal((await call("PreloadSRS", { circuit_id: "porep-2k" })).already_loaded, true);

const first = await call("SubmitProof", submit({ request_id: "js-1" }));
assert.notEqual(first.job_id, "");
const again = await call("SubmitProof", submit({ request_id: "js-1" }));
assert.equal(again.job_id, first.job_id, "the same id and payload are the same job");
const status = await call("GetStatus", {}, 5);
const queued = status.queues.reduce((n, q) => n + q.pending + q.in_progress, 0);
assert.equal(queued, 1, "one job counts once");
assert(status.loaded_srs.some((s) => s.circuit_id === "porep-2k" && Number(s.size_bytes) > 1e6));
const short = await call("AwaitProof", { job_id: first.job_id, timeout_ms: 1 });
assert.equal(short.status, "TIMEOUT");
const done = await call("AwaitProof", { job_id: first.job_id });
assert.equal(done.status, "COMPLETED", done.error_message);
assert.equal(done.proof.length, 192);
assert(Number(done.total_ms) > 0 && Number(done.synthesis_ms) + Number(done.gpu_compute_ms) > 0);
writeFileSync(`${out}/js-submit.bin`, done.proof);

const proved = await call("Prove", { submit: submit({ request_id: "js-2", priority: "CRITICAL" }) });
assert.equal(proved.result.status, "COMPLETED", proved.result.error_message);
writeFileSync(`${out}/js-prove.bin`, proved.result.proof);

const doomed = await call("SubmitProof", submit({ request_id: "js-3" }));
assert.notEqual(doomed.job_id, first.job_id);
assert.equal((await call("CancelProof", { job_id: doomed.job_id })).was_running, true);
assert.equal((await call("AwaitProof", { job_id: doomed.job_id })).status, "CANCELLED");

await refused(grpc.status.NOT_FOUND, /JOB-UNKNOWN/, call("AwaitProof", { job_id: "none" }));
await refused(grpc.status.INVALID_ARGUMENT, /34359738368.*2048|2048.*34359738368/,
  call("SubmitProof", submit({ request_id: "js-4", sector_size: 34359738368 })));
await refused(grpc.status.INVALID_ARGUMENT, /REPLICA-ID/,
  call("SubmitProof", submit({ request_id: "js-5", miner_id: 999 })));
await refused(grpc.status.INVALID_ARGUMENT, /JSON/,
  call("SubmitProof", submit({ request_id: "js-6", vanilla_proof: c1.subarray(0, 5000) })));
await refused(grpc.status.FAILED_PRECONDITION, /NOT-SERVED/,
  call("SubmitProof", submit({ request_id: "js-7", proof_kind: "WINNING_POST" })));

// Dropping the call cancels the job.
const dropped = await new Promise((resolve) => {
  const c = client.Prove({ submit: submit({ request_id: "js-8" }) }, (error) => resolve(error));
  setTimeout(() => c.cancel(), 300);
});
assert.equal(dropped.code, grpc.status.CANCELLED);
for (let i = 0; ; i++) {
  const s = await call("GetStatus", {}, 5);
  if (s.queues.every((q) => q.pending + q.in_progress === 0)) break;
  assert(i < 300, "the dropped job went on");
  await new Promise((r) => setTimeout(r, 100));
}

const metrics = await call("GetMetrics", {}, 5);
assert.match(metrics.prometheus_text, /^cuzk_proofs_completed_total\{[^}]*\} 2$/m);
// What was cancelled leaves the device at the end of its stage; until then its parameters are in use.
let evicted;
for (let i = 0; !evicted; i++) {
  evicted = await call("EvictSRS", { circuit_id: "porep-2k" }).catch((e) => {
    assert(i < 100 && /BUDGET-BUSY/.test(e.details), e.details);
  });
  if (!evicted) await new Promise((r) => setTimeout(r, 300));
}
assert.equal(evicted.was_loaded, true);
assert(Number(evicted.freed_bytes) > 1e6);
assert.equal((await call("EvictSRS", { circuit_id: "porep-2k" })).was_loaded, false);
console.log("every call answered as it should");
process.exit(0);
