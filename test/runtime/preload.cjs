// AWS's runtime client talks to Lambda through an addon that takes minutes to compile. This answers for it over HTTP.
const Module = require('node:module')

const resolve = Module._resolveFilename
Module._resolveFilename = function (request, ...more) {
  return request === './rapid-client.node'
    ? require.resolve('./native-client.cjs')
    : resolve.call(this, request, ...more)
}
