/** What people call the function that calls each probe; '' has no name. */
export const names = {
  declared: 'declared', asyncDeclared: 'asyncDeclared', generated: 'generated', arrow: 'arrow', arrowParameter: 'arrowParameter',
  destructured: 'destructured', listed: 'listed', curried: '', asyncArrow: 'asyncArrow', expression: 'expression', expressed: 'expressed', inner: 'inner', later: 'later',
  nested: 'nested', callback: '', wrapped: 'wrapped<', twice: 'twice<', anonymousDefault: 'default', method: 'method', clicked: 'clicked',
  propertyExpressed: 'expressed', getter: 'total', setter: 'total', stringKey: 'on-click', assignedLater: 'store.assignedLater',
  Legacy: 'Legacy', protoMethod: 'Legacy.prototype.protoMethod', constructor1: 'Basket', staticMethod: 'parse', classMethod: 'refresh',
  classGetter: 'price', fieldArrow: 'field', privateMethod: '#hidden', asyncMethod: 'load', initializer: 'Wide', childConstructor: 'Child',
  classExpression: 'named', anonymousClass: 'inside',
  defaultBase: 'default', defaultMethod: 'other', defaultConstructor: 'default', defaultInitializer: 'default', defaultStatic: 'default',
  stringMethod: '$route', spaceKey: 'a b', arrowKey: 'click->cart#add', escapedKey: "\u{1F6D2} 'x'", numberMethod: '12', hexMethod: '31', asyncKey: 'save/all',
  getterKey: 'total price', setterKey: 'total price', classStringMethod: 'todos/add', staticStringMethod: 'todos/all', generatorKey: 'todos/each', stringField: 'on-click',
  staticConstructor: 'constructor', stringConstructor: 'Quoted',
};
