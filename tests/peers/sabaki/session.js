// What Sabaki does with an engine, done with Sabaki's own GTP controller (npm package @sabaki/gtp).
// Usage: node session.js MODULES SGF PROGRAM ARGUMENT...  Prints one line a step, and fails at the first wrong answer.

const assert = require('assert')
const path = require('path')

const [modules, sgf, program, ...args] = process.argv.slice(2)
const {Controller, ControllerStateTracker} = require(path.join(modules, '@sabaki', 'gtp'))

const controller = new Controller(program, args)
const tracker = new ControllerStateTracker(controller)
const stderr = []
const VERTEX = /^([A-HJ-Z]\d{1,2}|pass)$/

controller.on('stderr', ({content}) => stderr.push(content))

async function ask(text) {
  let [name, ...args] = text.split(' ')
  let {content, error} = await controller.sendCommand({name, args})
  assert(!error, `${text}: ${content}`)
  return content
}

const move = (colour, vertex) => ({name: 'play', args: [colour, vertex]})
const position = (history, others = {}) => ({komi: 7, boardsize: [9, 9], history, ...others})

// Sabaki's reading of an analysis line: segments at `info`, key-value pairs, then the variation.
function parseAnalysis(line) {
  return line
    .split(/\s*info\s+/)
    .slice(1)
    .map(segment => {
      let [values, variation] = segment.trim().split(' pv ')
      assert(variation && variation.split(/\s+/).every(vertex => VERTEX.test(vertex)), segment)
      let words = values.split(' ')
      assert(words.length % 2 === 0, segment)
      let pairs = {}
      for (let i = 0; i < words.length; i += 2) pairs[words[i]] = words[i + 1]
      for (let key of ['move', 'visits', 'winrate']) assert(key in pairs, segment)
      return pairs
    })
}

// Starts an analysis, waits for some lines and ends it as Sabaki does, by another command; the last line's moves.
async function analyze(name, wanted) {
  let lines = []
  let stopped = null
  let ended = controller.sendCommand({name, args: ['B', '5']}, ({line}) => {
    if (line.startsWith('info')) lines.push(line)
    if (lines.length === wanted && stopped == null) {
      stopped = {since: Date.now(), answer: controller.sendCommand({name: 'protocol_version'})}
    }
  })
  await ended
  assert.strictEqual((await stopped.answer).content, '2')
  let milliseconds = Date.now() - stopped.since
  assert(milliseconds < 1000, `analysis took ${milliseconds} ms to end`)
  return parseAnalysis(lines[lines.length - 1])
}

const steps = {
  async connect() {
    let names = ['name', 'version', 'protocol_version', 'list_commands']
    let answers = await Promise.all(names.map(name => controller.sendCommand({name})))
    assert(answers.every(({error, content}) => !error && content !== ''))
    for (let name of ['undo', 'loadsgf', 'set_free_handicap', 'kata-analyze', 'kata-genmove_analyze']) {
      assert(await tracker.knowsCommand(name), name)
    }
    for (let name of ['analyze', 'genmove_analyze']) assert(!(await tracker.knowsCommand(name)), name)
  },

  async play() {
    await tracker.sync(position([move('B', 'E5'), move('W', 'E3')]))
    let answer = await tracker.queueCommand({name: 'genmove', args: ['B']})
    assert(VERTEX.test(answer.content), answer.content)
    assert.strictEqual(tracker.state.history.length, 3)
  },

  async analyze() {
    for (let [name, isFloat] of [['kata-analyze', true], ['lz-analyze', false]]) {
      let moves = await analyze(name, 3)
      assert(moves.length > 0)
      for (let {winrate, prior} of moves) {
        assert.strictEqual(winrate.includes('.'), isFloat)
        assert.strictEqual(prior.includes('.'), isFloat)
      }
    }
  },

  async genmoveWithAnalysis() {
    let lines = []
    let request = {name: 'kata-genmove_analyze', args: ['W', '5']}
    let answer = await tracker.queueCommand(request, ({line}) => lines.push(line))
    assert(!answer.error)
    let played = lines.find(line => line.startsWith('play '))
    assert(VERTEX.test(played.slice(5)), played)
    assert(parseAnalysis(lines.find(line => line.startsWith('info'))).length > 0)
    assert.strictEqual(tracker.state.history.length, 4)
  },

  async undo() {
    let history = tracker.state.history.slice(0, 3)
    await tracker.sync(position([...history, move('W', 'A1')]))
    await tracker.sync(position(history))
    assert.strictEqual(tracker.state.history.length, 3)
    assert((await ask('showboard')).includes('move 3:'))
  },

  async handicap() {
    await tracker.sync(position([{name: 'set_free_handicap', args: ['C3', 'G7']}, move('W', 'E5')]))
    assert((await ask('showboard')).includes('Black (X) to move'))
    await tracker.sync(position([]))
    assert.strictEqual((await ask('fixed_handicap 2')).split(/\s+/).length, 2)
    await tracker.sync(position(tracker.state.history))
  },

  async loadSgf() {
    await ask(`loadsgf ${sgf}`)
    assert((await ask('showboard')).includes('move 3: B G7'))
    assert.strictEqual(await ask('get_komi'), '5.5')
  },

  async setUpStones() {
    // Stones of an edited board come as moves, first one colour, then the other; here even a surrounded white one.
    let stones = ['D5', 'F5', 'E6', 'E4'].map(vertex => move('B', vertex))
    stones.push(...['C5', 'G5', 'E7', 'E3'].map(vertex => move('W', vertex)), move('B', 'A1'), move('B', 'A2'))
    await tracker.sync(position(stones))
    await tracker.sync(position([...stones, move('W', 'J9'), move('W', 'J8')]))
    assert.strictEqual(tracker.state.history.length, 12)
  },

  async otherBoards() {
    await tracker.sync({komi: -0.5, boardsize: [13, 7], history: [move('B', 'N7')]})
    await tracker.sync({komi: 6.5, boardsize: [19, 19], timeSettings: {mainTime: 0, byoyomiTime: 1, byoyomiStones: 1}})
    await tracker.sync({komi: 6.5, boardsize: [19, 19], history: [move('B', 'T19')]})
    assert.strictEqual(await ask('get_komi'), '6.5')
  },

  async refuse() {
    let {content, error} = await controller.sendCommand({name: 'play', args: ['W', 'T19']})
    assert(error && content === 'illegal move', content)
    assert((await ask('showboard')).includes('move 1:'))
  },

  async interruptAndStop() {
    let ended = controller.sendCommand({name: 'kata-analyze', args: ['B', '10']})
    await new Promise(resolve => setTimeout(resolve, 300))
    let since = Date.now()
    let code = await new Promise(resolve => {
      controller.process.once('exit', resolve)
      controller.stop()
    })
    assert(!(await ended).error)
    assert.strictEqual(code, 0)
    assert(Date.now() - since < 3000, 'Sabaki would have killed it')
  }
}

async function main() {
  controller.start()
  for (let [name, step] of Object.entries(steps)) {
    await step()
    console.log(`ok ${name}`)
  }
  for (let line of stderr) assert(!/^(=|\?|info|play)| -> /.test(line), line)
}

main().catch(error => {
  console.error(error)
  console.error(stderr.join('\n'))
  if (controller.process != null) controller.process.kill()
  process.exit(1)
})
