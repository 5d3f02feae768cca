#!/usr/bin/env node
// Starts the service, so that `npx gatehoused` is all that a first try needs; with a command it is `gatehouse`.
// Written so that an old Node can still read it.
const path = require('node:path')

const [first] = process.argv.slice(2)
const isAsking = ['--help', '-h', '--version'].includes(first)
if (first === undefined || (first.startsWith('-') && !isAsking)) process.argv.splice(2, 0, 'serve')
const command = path.join(__dirname, 'gatehouse.js')
// Next steps are printed for this program by its path.
process.argv[1] = command
require(command)
