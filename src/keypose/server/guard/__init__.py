"""What stands before every route. A request passes, from the outside in:

``Headers``      every answer, refusals too, says what a browser may do with it
``Caught``       whatever fails has an answer that tells nothing of the machine
``HostCheck``    is it for us?
``OriginCheck``  does it come from our own pages?
``BodyLimits``   is it small and quick enough?
``Door``         is it somebody who may come in?
"""
