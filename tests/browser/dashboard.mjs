/*
 * Looks at the dashboard in headless Chromium.
 *
 *     node dashboard.mjs --stub BIN/dashboard_stub [--out FOLDER]    made-up figures, all scenes
 *     node dashboard.mjs --url http://127.0.0.1:9821/ [--out FOLDER] a daemon that runs
 *
 * At 360 and 1280 px, light and dark: nothing is wider than the screen, no message of the console,
 * no violation of the content policy, no request to elsewhere; the page's figures are those of
 * /status; text of clients stays text; with the daemon gone the page says so, and it comes back.
 * Exit code 77: there is no Chromium. CHROMIUM names another program.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SIZES = [[360, 740, true], [1280, 900, false]];
const SCHEMES = ['light', 'dark'];
const sleep = (ms) => new Promise((go) => setTimeout(go, ms));
const failures = [];
function check(ok, text) {
  if (!ok) failures.push(text);
  console.log((ok ? 'ok    ' : 'FAIL  ') + text);
}

/* ---- the browser, spoken to over a pair of pipes ---- */

class Browser {
  constructor(program, folder) {
    this.process = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
      '--remote-debugging-pipe', '--user-data-dir=' + folder, 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.next = 1; this.waiting = new Map(); this.listeners = []; this.text = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (piece) => this.read(piece));
  }
  read(piece) {
    this.text += piece;
    for (let end; (end = this.text.indexOf('\0')) >= 0; this.text = this.text.slice(end + 1)) {
      const message = JSON.parse(this.text.slice(0, end)), wait = this.waiting.get(message.id);
      if (!wait) { for (const fn of this.listeners) fn(message); continue; }
      this.waiting.delete(message.id);
      if (message.error) wait.fail(new Error(message.error.message)); else wait.done(message.result);
    }
  }
  call(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }
  async page() {
    const { targetId } = await this.call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.call('Target.attachToTarget', { targetId, flatten: true });
    return new Page(this, targetId, sessionId);
  }
  async close() {
    const ended = new Promise((go) => this.process.on('exit', go));
    this.call('Browser.close').catch(() => {});
    await Promise.race([ended, sleep(3000)]);
    this.process.kill('SIGKILL');
  }
}

class Page {
  constructor(browser, target, session) {
    this.browser = browser; this.target = target; this.session = session; this.messages = []; this.requests = [];
    browser.listeners.push((m) => { if (m.sessionId === session) this.hear(m); });
  }
  hear(m) {
    if (m.method === 'Runtime.consoleAPICalled') this.messages.push(m.params.args.map((a) => a.value ?? a.description).join(' '));
    if (m.method === 'Runtime.exceptionThrown') this.messages.push(m.params.exceptionDetails.exception?.description ?? m.params.exceptionDetails.text);
    if (m.method === 'Log.entryAdded') this.messages.push(m.params.entry.text);
    if (m.method === 'Network.requestWillBeSent') this.requests.push(m.params.request.url);
  }
  call(method, params) { return this.browser.call(method, params, this.session); }
  async open(url, [width, height, mobile], scheme, before) {
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.call(domain + '.enable');
    await this.call('Emulation.setDeviceMetricsOverride', { width, height, mobile, deviceScaleFactor: mobile ? 2 : 1 });
    await this.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    if (before) await this.call('Page.addScriptToEvaluateOnNewDocument', { source: before });
    await this.call('Page.navigate', { url });
  }
  async value(expression) {
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  async until(expression, ms = 8000) {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(100)) if (await this.value(expression)) return true;
    return false;
  }
  async picture(file, whole) {
    const { data } = await this.call('Page.captureScreenshot', { format: 'png', captureBeyondViewport: whole });
    writeFileSync(file, Buffer.from(data, 'base64'));
  }
  close() { return this.browser.call('Target.closeTarget', { targetId: this.target }); }
}

/* ---- the server with made-up figures ---- */

function startStub(program, listen, scene) {
  const child = spawn(program, [listen, scene], { stdio: ['pipe', 'pipe', 'inherit'] });
  return new Promise((done, fail) => {
    child.stdout.on('data', (line) => done({ child, port: Number(line) }));
    child.on('exit', (code) => fail(new Error('the stub ended with ' + code)));
  });
}
function stopStub(stub) {
  const ended = new Promise((go) => { stub.child.removeAllListeners('exit'); stub.child.on('exit', go); });
  stub.child.stdin.end();
  return ended;
}
/* Ten minutes that this browser would remember, so that a picture shows a full chart. */
const PAST = `if (!sessionStorage.getItem('cuzk-memory')) {
  const g = 2 ** 30, out = [], now = Date.now();
  for (let i = 560; i > 0; i--) {
    const w = (i) => 3 + Math.round(2 * Math.sin(i / 9) + Math.sin(i / 3.1)), d = 2 + Math.round(2 * Math.sin(i / 17));
    if (i > 300 && i < 320) continue;
    const c = [96.2, 18.5, 1.28 * w(i), 12 * d, 1.86 * (i % 7 === 0), 1.2, 0, 0, .5 + 2 * d].map((v) => v * g);
    out.push({ t: now - i * 1000, c, rss: c.reduce((a, b) => a + b) + .8 * g, limit: 256 * g, plan: 236.9 * g, done: 0, up: 0 });
  }
  sessionStorage.setItem('cuzk-memory', JSON.stringify(out));
}`;

/* ---- what is looked at ---- */

async function look(browser, url, name, size, scheme, options) {
  const page = await browser.page(), title = name + ' ' + size[0] + ' px ' + scheme;
  await page.open(url, size, scheme, options.past ? PAST : null);
  check(await page.until(`document.querySelector('#tiles dd') && document.getElementById('state').textContent !== 'Connecting'`), title + ': figures appear');
  await sleep(2200);
  const wide = await page.value(`(() => { const w = document.documentElement.clientWidth; return document.documentElement.scrollWidth > w ||
    [...document.querySelectorAll('main *')].some((e) => e.getClientRects().length && e.getBoundingClientRect().right > w + 1 && !e.closest('.chart, .cell')); })()`);
  check(!wide, title + ': nothing is wider than the screen');
  const inner = await page.value(`[...document.querySelectorAll('td, #tiles dd, .lane h3, .worker em')].filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent).join(' | ')`);
  check(inner === '', title + ': no text is cut' + (inner ? ': ' + inner : ''));
  if (options.check) await options.check(page, title);
  if (size[0] < 600) await page.value(`document.getElementById('plan').open = true`);
  if (options.out) await page.picture(join(options.out, [name, size[0], scheme].join('-') + '.png'), true);
  const origin = new URL(url).origin;
  check(page.requests.every((u) => u.startsWith(origin + '/') || u.startsWith('data:') || u.startsWith('about:')), title + ': nothing is fetched from elsewhere');
  check(page.messages.length === 0, title + ': the console is empty' + (page.messages.length ? ': ' + page.messages.join(' | ') : ''));
  await page.close();
}

/* The page against the /status that it has just read; counters only, which move slowly. */
async function figuresAgree(page, title) {
  const same = await page.value(`(async () => {
    for (let i = 0; i < 6; i++) {
      const s = await (await fetch('status')).json(), tiles = [...document.querySelectorAll('#tiles dd')].map((e) => e.firstChild.textContent);
      if (tiles[0] === String(s.counters.total_completed) && tiles[1] === String(s.counters.total_failed) && tiles[2] === String(s.counters.queue_depth)
        && document.querySelectorAll('.device').length === s.devices.length) return true;
      await new Promise((go) => setTimeout(go, 300));
    }
    return false; })()`);
  check(same, title + ': the figures are those of /status');
}
async function cellsMove(page, title) {
  const at = `JSON.stringify([...document.querySelectorAll('.lane')].map((l) => [...l.querySelectorAll('.cell')].map((c) => c.title.replace(/ of.*/, ''))))`;
  const before = await page.value(at);
  check(before.includes('partition'), title + ': partitions are shown');
  check(await page.until(`${at} !== ${JSON.stringify(before)}`), title + ': partitions move');
}
async function alarmsShown(page, title) {
  const text = await page.value(`document.getElementById('alarms').textContent`);
  for (const part of ['Device 1', 'was taken out', '2 invalid proofs', 'budget is nearly used'])
    check(text.includes(part), title + ': alarm "' + part + '"');
  check(await page.value(`document.querySelectorAll('img, main script').length === 0 && document.body.textContent.includes('<img src=x')`),
    title + ': markup in a request id stays text');
}
async function goesAndComes(browser, program, out) {
  const stub = await startStub(program, '127.0.0.1:0', 'busy'), page = await browser.page();
  await page.open('http://127.0.0.1:' + stub.port + '/', SIZES[1], 'light', PAST);
  await page.until(`document.querySelector('#tiles dd')`);
  await stopStub(stub);
  check(await page.until(`document.getElementById('state').textContent === 'Away'`), 'daemon gone: the page says so');
  check(await page.value(`document.getElementById('alarms').textContent.includes('does not answer') && document.querySelector('#tiles dd') !== null`),
    'daemon gone: the last figures stay, with their time');
  if (out) await page.picture(join(out, 'away-1280-light.png'), false);
  const again = await startStub(program, '127.0.0.1:' + stub.port, 'busy');
  check(await page.until(`document.getElementById('state').textContent === 'Ready' && !document.querySelector('main.away')`), 'daemon back: the page goes on');
  await stopStub(again);
  await page.close();
}

async function main() {
  const args = process.argv.slice(2), option = (name) => { const i = args.indexOf(name); return i < 0 ? null : args[i + 1]; };
  const program = process.env.CHROMIUM || ['chromium', 'chromium-browser', 'google-chrome'].find((p) => spawnSync(p, ['--version']).status === 0);
  if (!program) { console.log('no Chromium here'); return 77; }
  const stub = option('--stub'), url = option('--url'), out = option('--out');
  if (!stub && !url) { console.error('usage: dashboard.mjs --stub PROGRAM | --url URL [--out FOLDER]'); return 2; }
  if (out) mkdirSync(out, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'cuzk-browser-')), browser = new Browser(program, folder);
  try {
    if (url) {
      for (const size of SIZES) for (const scheme of SCHEMES) await look(browser, url, 'daemon', size, scheme, { out, check: figuresAgree });
    } else {
      const checks = { empty: figuresAgree, busy: async (p, t) => { await figuresAgree(p, t); await cellsMove(p, t); }, alarm: alarmsShown };
      for (const scene of Object.keys(checks)) {
        const one = await startStub(stub, '127.0.0.1:0', scene);
        for (const size of SIZES) for (const scheme of SCHEMES)
          await look(browser, 'http://127.0.0.1:' + one.port + '/', scene, size, scheme, { out, past: scene === 'busy', check: checks[scene] });
        await stopStub(one);
      }
      await goesAndComes(browser, stub, out);
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(failures.length ? failures.length + ' FAILED' : 'all good');
  return failures.length ? 1 : 0;
}
process.exit(await main());
